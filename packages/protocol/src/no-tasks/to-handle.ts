import { openQuestions, type TaskQuestion, type TaskView } from "@taskbridge/core";
import { toFormSchema } from "../form-schema.ts";
import { toStatusMessage } from "../status-message.ts";
import { type ToolResult, textBlock } from "../tool-result.ts";

/** What the caller of a handle can do with it. */
export interface HandleOptions {
  /** The caller has the companion tools. Absent: there is only the command line. */
  readonly companions?: {
    /** What to give `task_status` as `waitSeconds`. */
    readonly waitSeconds: number;
    /** It may answer questions by `task_answer`. */
    readonly modelAnswers: boolean;
  };
  /** How many looks in a row have come too early. Default: 0. */
  readonly early?: number;
  /**
   * Whether this caller's user is asked what the task asks. `now`: a dialog may still be open. `again`: with the next
   * `task_status`. Absent: not at all.
   */
  readonly asked?: "now" | "again";
  /** The call has started nothing: the same one runs already. */
  readonly isDeduplicated?: boolean;
}

/** How long who keeps looking too early is told to wait, twice as long each time (milliseconds). */
const firstPauseMs = 30_000;
const maxPauseMs = 300_000;

/** When a look is worth its cost (milliseconds); later for who looks too early. */
export const advisedPollMs = ({ pollIntervalMs }: TaskView, early = 0): number => {
  const pauseMs = early === 0 ? 0 : Math.min(firstPauseMs * 2 ** (early - 1), maxPauseMs);
  return Math.max(1, Math.ceil(pollIntervalMs), pauseMs);
};

/**
 * What a caller that knows no tasks gets for one that has not ended: which task it is, how it stands, and how to get at
 * its result. Not an error, and small enough to keep. A model reads it, so it says the one thing to do next.
 */
export const toHandle = (view: TaskView, options: HandleOptions = {}): ToolResult => {
  const { record } = view;
  const open = openQuestions(record.questions);
  const message = toStatusMessage(record, view.staleSince);
  const subject = `${options.isDeduplicated === true ? "Nothing new was started: the same call runs already. " : ""}Task ${record.taskId} of ${record.tool}`;
  const statusText = open.length > 0 ? toQuestions(open, options) : toRunning(message);
  const next = open.length > 0 ? afterQuestions(view, open, options) : afterRunning(view, options);
  return {
    content: [textBlock(`${subject} ${statusText} ${next}`)],
    structuredContent: {
      taskId: record.taskId,
      taskStatus: open.length > 0 ? "input_required" : "working",
      pollIntervalMs: advisedPollMs(view, options.early),
      ...(message === undefined ? {} : { message }),
      // A host may show its model nothing but this.
      ...(options.companions === undefined ? {} : { next: open.length > 0 ? `The task ${statusText} ${next}` : next }),
    },
    isError: false,
  };
};

const toRunning = (message: string | undefined): string =>
  `is still running${message === undefined ? "" : ` (${message})`}. It goes on by itself.`;

const afterRunning = (view: TaskView, { companions, early = 0 }: HandleOptions): string => {
  const { taskId } = view.record;
  const seconds = Math.max(1, Math.round(advisedPollMs(view, early) / 1000));
  if (companions === undefined) return `Look again in ${seconds} s: ${commandLine(taskId)}`;
  const wait = `call task_status with taskId ${taskId} and waitSeconds ${companions.waitSeconds}`;
  if (early === 0) return `To wait for its result, ${wait}.`;
  return `Looking more often does not make it faster: tell the user that it is running, and look again in ${seconds} s at the earliest; then ${wait}.`;
};

const toQuestions = (open: readonly TaskQuestion[], { asked, companions }: HandleOptions): string => {
  const messages = open.map(({ message }) => JSON.stringify(message)).join(" and ");
  if (companions === undefined) return `waits for an answer by a person: ${messages}.`;
  if (asked === "now") return `waits for the user, who is being asked ${messages}.`;
  if (asked === "again") return `waits for the user, who was asked ${messages} and has not answered.`;
  const who = companions.modelAnswers ? "an answer" : "an answer by a person";
  return `waits for ${who}: ${messages}.`;
};

const afterQuestions = (view: TaskView, open: readonly TaskQuestion[], options: HandleOptions): string => {
  const { taskId } = view.record;
  const { companions, asked } = options;
  if (companions === undefined)
    return `Give it with \`taskbridge tasks answer ${taskId}\`; then ${commandLine(taskId)}`;
  const pollAdvice = `call task_status with taskId ${taskId} and waitSeconds ${companions.waitSeconds}`;
  if (asked === "now") return `Do not answer for them. Once they have answered, ${pollAdvice}.`;
  if (asked === "again") return `Do not answer for them. To have them asked again, ${pollAdvice}.`;
  const byModel = companions.modelAnswers ? open.filter(isForModel) : [];
  if (byModel.length > 0) {
    return `Ask the user, then call task_answer with taskId ${taskId}, an action and, with accept, content: ${byModel.map(toForm).join("; ")}.`;
  }
  const pages = open.flatMap(({ url, schema }) => (url !== undefined && schema === undefined ? [url] : []));
  const where =
    pages.length === open.length
      ? `Ask the user to open ${pages.join(" and ")}.`
      : `It cannot be given here: ask the user to run \`taskbridge tasks answer ${taskId}\` where the server runs.`;
  return `${where} Once that is done, ${pollAdvice}.`;
};

/** Neither a page to visit nor a secret can go through a model. */
export const isForModel = ({ url, schema }: TaskQuestion): boolean =>
  (url === undefined || schema !== undefined) && toFormSchema(schema).kind !== "secret";

const toForm = ({ key, schema }: TaskQuestion): string =>
  `key ${key}${schema === undefined ? ", no content" : `, content that fits ${JSON.stringify(schema)}`}`;

const commandLine = (taskId: string): string =>
  `\`taskbridge tasks show ${taskId}\` prints its status and, once it has ended, its result.`;

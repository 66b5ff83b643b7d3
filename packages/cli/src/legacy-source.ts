import { CliError, usageError } from "./cli-error.ts";
import { type CallOptions, isOver, type TaskSource, type TaskStatus } from "./task-source.ts";
import { shellWord } from "./terminal/shell-word.ts";
import { askedQuestions } from "./wire/asked-questions.ts";
import { legacyVersion, openLegacySession } from "./wire/legacy-session.ts";
import { legacyTasks } from "./wire/legacy-tasks.ts";
import { listed } from "./wire/listed.ts";
import type { Members } from "./wire/members.ts";
import { createNaps } from "./wire/naps.ts";
import type { Elicit, ServerAddress } from "./wire/open-connection.ts";
import { takesTask } from "./wire/takes-task.ts";
import { type Request, retryWhileUnreachable } from "./wire/task-requests.ts";
import { toLegacyStatus } from "./wire/to-legacy-status.ts";
import { toQuestion } from "./wire/to-questions.ts";
import { toImmediate } from "./wire/to-result.ts";

export interface LegacySourceOptions extends ServerAddress {
  /** Whether there is a person to put questions to. */
  readonly asks: boolean;
  /** Told when the server cannot be reached for a while. */
  onTrouble(message: string): void;
}

/** As long as a timer can wait: a wait for the end of a task is not given up (milliseconds). */
const longestMs = 2_147_483_647;
/** Servers may take their time for a call that is no task (milliseconds). */
const untaskedTimeoutMs = 600_000;

/** Tasks of a server that speaks revision 2025-11-25, or undefined where it offers none. */
export const legacySource = async (options: LegacySourceOptions): Promise<TaskSource | undefined> => {
  const { url, asks, onTrouble } = options;
  const naps = createNaps();
  const questions = askedQuestions(naps.wake);
  let askBefore: CallOptions["ask"] | undefined;
  const elicit: Elicit = async (params, signal) => {
    const taskId = relatedTaskId(params);
    if (taskId !== undefined) return questions.put(taskId, params, signal);
    return (await askBefore?.([toQuestion("question", { params })]))?.["question"];
  };
  const session = await openLegacySession(options, asks ? elicit : undefined);
  if (session.tasks.requests?.tools?.call === undefined) {
    await session.close();
    return undefined;
  }
  const patiently: Request = (method, params, limits) =>
    retryWhileUnreachable(() => session.request(method, params, limits), onTrouble, limits?.signal);
  const tasks = legacyTasks(patiently);
  const listen = listener(session.request);
  const readTask = async (taskId: string, signal?: AbortSignal): Promise<TaskStatus> => {
    const status = await tasks.read(taskId, signal);
    if (isOver(status)) return status;
    if (status.state === "waiting" && asks) listen(taskId);
    return { ...status, questions: questions.of(taskId) };
  };

  return {
    flags: `--url ${shellWord(url.href)} --wire ${legacyVersion}`,
    answeredBy: "follower",
    callTool: async (name, input, { ask, signal }) => {
      askBefore = ask;
      const params = { name, arguments: input };
      const isTask = await takesTask(patiently, name, signal);
      // Not repeated when the connection breaks: the pipeline may have been started. Nor given up for Ctrl-C: the answer
      // comes at once, and without it nobody would know the task, which goes on.
      const answer = isTask
        ? await session.request("tools/call", { ...params, task: {} })
        : await session.request("tools/call", params, { signal, timeoutMs: untaskedTimeoutMs });
      const task = answer["task"] as Members | undefined;
      return task === undefined ? toImmediate(patiently, answer) : { kind: "task", task: tasks.created(task) };
    },
    readTask: (taskId) => readTask(taskId),
    nextStatus: async ({ taskId, questions: known }, signal) => {
      const hasNews = questions.of(taskId).some(({ key }) => !known.some((question) => question.key === key));
      if (!hasNews) await naps.take(taskId, tasks.pollMs(taskId), signal);
      return readTask(taskId, signal);
    },
    readResult: ({ taskId }) => tasks.readResult(taskId),
    answerTask: async (taskId, answers) => questions.answer(taskId, answers),
    cancelTask: async (taskId) => toLegacyStatus(await patiently("tasks/cancel", { taskId })),
    listTasks: async function* () {
      if (session.tasks.list === undefined) throw usageError(`tasks list: ${url} does not list tasks`);
      for await (const task of listed(patiently, "tasks/list", "tasks")) yield toLegacyStatus(task);
    },
    close: () => session.close(),
  };
};

/** The same, and an error where the server offers none. */
export const requireLegacySource = async (options: LegacySourceOptions): Promise<TaskSource> => {
  const source = await legacySource(options);
  if (source !== undefined) return source;
  throw new CliError(`${options.url}: the server does not offer the tasks of ${legacyVersion}`);
};

const relatedTaskId = (params: Members): string | undefined => {
  const meta = params["_meta"] as Members | undefined;
  const related = meta?.["io.modelcontextprotocol/related-task"] as Members | undefined;
  return typeof related?.["taskId"] === "string" ? related["taskId"] : undefined;
};

/** Waits for the end of a task, because a server may put its questions on the stream of such a request only. */
const listener = (request: Request): ((taskId: string) => void) => {
  const listening = new Set<string>();
  return (taskId) => {
    if (listening.has(taskId)) return;
    listening.add(taskId);
    // However it ends, the next look at the task tells.
    const over = (): void => void listening.delete(taskId);
    request("tasks/result", { taskId }, { timeoutMs: longestMs }).then(over, over);
  };
};

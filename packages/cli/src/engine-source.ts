import {
  type Access,
  localOwner,
  type TaskEngine,
  type TaskQuestion,
  type TaskRecord,
  type TaskView,
} from "@taskbridge/core";
import { usageError } from "./cli-error.ts";
import type { Config } from "./config/config.ts";
import { openEngine } from "./config/open-engine.ts";
import type { PendingCall, Question, TaskResult, TaskSource, TaskStatus } from "./task-source.ts";
import { shellWord } from "./terminal/shell-word.ts";

const operator: Access = { operator: true };
const cancellation = { reason: "cancelled by the operator", isFinal: false };
const pageSize = 100;
/** Long enough to be cheap; a change ends the wait at once. */
const waitMs = 30_000;

/**
 * Tasks of a configuration's store, seen as the operator, by an engine in this process. `background`: it also does by
 * itself what is due, as a call needs; without it, it only acts when asked to.
 */
export const engineSource = async (config: Config, { background }: { background: boolean }): Promise<TaskSource> => {
  const { engine, close } = await openEngine(config);
  if (background) await engine.open();
  const revisions = new Map<string, number>();
  const toStatus = (view: TaskView): TaskStatus => {
    revisions.set(view.record.taskId, view.record.revision);
    return toTaskStatus(view.record, engine.limits.maxReasks);
  };

  return {
    flags: `--config ${shellWord(config.file)}`,
    answeredBy: "command",
    callTool: async (tool, input, { signal }) => {
      if (!engine.tools.has(tool)) throw unknownTool(engine, tool);
      const view = await engine.createTask({ tool, input, owner: localOwner, signal });
      return { kind: "task", task: toStatus(view) };
    },
    readTask: async (taskId) => toStatus(await engine.readTask(taskId, operator)),
    nextStatus: async ({ taskId }, signal) => {
      const revision = revisions.get(taskId) ?? 0;
      const view = await engine.waitForTask(taskId, operator, {
        until: "changed",
        revision,
        timeoutMs: waitMs,
        signal,
      });
      signal.throwIfAborted();
      return toStatus(view);
    },
    readResult: (task) => readResult(engine, task),
    answerTask: async (taskId, answers) => (await engine.answerTask(taskId, operator, answers)).ignored,
    cancelTask: async (taskId) => toStatus(await engine.cancelTask(taskId, operator, cancellation)),
    listTasks: async function* () {
      let cursor: string | undefined;
      do {
        const page = await engine.listTasks(operator, {}, cursor, pageSize);
        // Where no server runs, nobody else has looked how the open ones stand.
        yield* await Promise.all(page.tasks.map((task) => refresh(engine, task).then(toStatus)));
        cursor = page.cursor;
      } while (cursor !== undefined);
    },
    close,
  };
};

/** Expired or removed since it was listed: as it was. */
const refresh = async (engine: TaskEngine, task: TaskView): Promise<TaskView> =>
  task.record.endedAt === undefined ? engine.readTask(task.record.taskId, operator).catch(() => task) : task;

const unknownTool = (engine: TaskEngine, tool: string): Error =>
  usageError(`there is no tool "${tool}"; the configuration has ${[...engine.tools.keys()].join(", ")}`);

const toTaskStatus = (record: TaskRecord, maxReasks: number): TaskStatus => ({
  taskId: record.taskId,
  tool: record.tool,
  state: record.state,
  ...(record.message === undefined ? {} : { message: record.message }),
  ...(record.execution?.progress === undefined ? {} : { progress: record.execution.progress }),
  questions: record.questions
    .filter(({ state }) => state === "open")
    .map((question) => toQuestion(question, maxReasks)),
  ...toPending(record),
  ...(record.missingSince === undefined || record.endedAt !== undefined ? {} : { missingSince: record.missingSince }),
  ...(record.failure === undefined ? {} : { failure: record.failure }),
  ...(record.output === undefined ? {} : { resultBytes: record.output.bytes }),
  ...(record.execution?.url === undefined ? {} : { url: record.execution.url }),
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
  ...(record.endedAt === undefined ? {} : { endedAt: record.endedAt }),
  ...(record.expiresAt === undefined ? {} : { expiresAt: record.expiresAt }),
});

const toPending = (record: TaskRecord): Pick<TaskStatus, "pending"> => {
  const pending = record.effects.flatMap((effect) => toPendingCall(record, effect) ?? []);
  return pending.length === 0 ? {} : { pending };
};

const toPendingCall = ({ start }: TaskRecord, effect: TaskRecord["effects"][number]): PendingCall | undefined => {
  if (effect.kind !== "start" && effect.kind !== "answer" && effect.kind !== "cancel") return undefined;
  return {
    kind: effect.kind,
    ...(effect.kind === "answer" ? { questionKey: effect.questionKey } : {}),
    attempts: effect.attempts,
    ...(effect.lastError === undefined ? {} : { lastError: effect.lastError }),
    // A try that is under way is noted as sent, whatever came of the one before.
    ...(effect.kind === "start"
      ? { mayHaveArrived: start.firstSentAt !== undefined && effect.nothingSent !== true }
      : {}),
  };
};

const toQuestion = ({ key, questionId, message, schema, url, reasks }: TaskQuestion, maxReasks: number): Question => ({
  key,
  questionId,
  reasksLeft: Math.max(0, maxReasks - reasks),
  message,
  ...(schema === undefined ? {} : { schema }),
  ...(url === undefined ? {} : { url }),
});

const partBytes = 1_048_576;

const readResult = async (engine: TaskEngine, { taskId, resultBytes = 0 }: TaskStatus): Promise<TaskResult> => {
  const parts: Uint8Array[] = [];
  let mediaType = "text/plain";
  for (let offset = 0; offset < resultBytes; ) {
    const part = await engine.readOutput(taskId, operator, { offset, length: partBytes });
    parts.push(part.bytes);
    offset += part.bytes.length;
    mediaType = part.mediaType;
    if (part.bytes.length === 0) break;
  }
  const text = Buffer.concat(parts).toString("utf8");
  return mediaType === "application/json" ? { text, json: JSON.parse(text) } : { text };
};

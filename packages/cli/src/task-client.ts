import {
  isOver,
  isTaskClientError,
  type Task,
  type TaskClient,
  type ToolResult,
  type Answers as WireAnswers,
} from "@taskbridge/client";
import type { JsonValue } from "@taskbridge/core";
import { CliError, exitCodes, usageError } from "./cli-error.ts";
import type { Answers, CallOptions, CallOutcome, TaskResult, TaskSource, TaskStatus } from "./task-source.ts";
import { shellWord } from "./terminal/shell-word.ts";
import { type OpenOptions, openTaskClient } from "./wire/open-task-client.ts";
import { toCliError } from "./wire/to-cli-error.ts";
import { type Outcome, textsOf, toQuestion, toStatus } from "./wire/to-status.ts";

export type TaskClientOptions = OpenOptions;

/** The tasks of an MCP server over HTTP, on the wire that is wanted or the best that it has. */
export const connectTaskClient = async (options: TaskClientOptions): Promise<TaskSource> => {
  const { calls, handles, close } = await openTaskClient(options);
  const source = taskSource(calls, options);
  const read = handles === undefined ? undefined : taskSource(handles, options);
  return {
    ...(read ?? source),
    callTool: async (tool, input, call) => {
      const outcome = await source.callTool(tool, input, call);
      const taskId = outcome.kind === "result" && calls.wire === "none" ? handleIn(outcome.result) : undefined;
      if (outcome.kind === "task" || taskId === undefined) return outcome;
      // The server has waited long enough and handed out what other wires call a task.
      if (read === undefined) throw new CliError(outcome.result.text);
      return { kind: "task", task: await read.readTask(taskId) };
    },
    close: async () => {
      await source.close();
      await read?.close();
      await close();
    },
  };
};

const handleIn = ({ json }: TaskResult): string | undefined => {
  const { taskId, taskStatus } = (typeof json === "object" && json !== null ? json : {}) as Record<string, unknown>;
  return typeof taskId === "string" && typeof taskStatus === "string" ? taskId : undefined;
};

/** Ctrl-C before the task is there: these calls are stopped; on the others the answer comes at once, or the stream's end says it. */
const stopsBefore = new Set(["none", "sep-1686"]);

/** What a source has of the client library. */
interface SourceParts {
  readonly calls: TaskClient;
  /** The questions of this task are answered here from now on. */
  claim(taskId: string): void;
  settled(look: Promise<Task>): Promise<TaskStatus>;
}

const taskSource = (calls: TaskClient, { url, asks }: TaskClientOptions): TaskSource => {
  const { wire } = calls;
  const isModern = wire === "2026-07-28";
  const closing = new AbortController();
  const watches = new Map<string, AsyncIterator<Task>>();
  const watchOf = (taskId: string): AsyncIterator<Task> => {
    const watch =
      watches.get(taskId) ?? calls.watch(taskId, { questions: asks ? "hold" : "leave", signal: closing.signal });
    watches.set(taskId, watch);
    return watch;
  };
  const told = async <Value>(work: Promise<Value>, method?: string): Promise<Value> => {
    try {
      return await work;
    } catch (error) {
      throw toCliError(error, url, method);
    }
  };
  const outcomeOf = async (task: Task): Promise<Outcome | undefined> => {
    if (task.result !== undefined || !isOver(task) || task.status === "cancelled") return task.result;
    try {
      return await calls.resume(task.taskId).result();
    } catch (error) {
      if (isTaskClientError(error, "failed")) return error;
      throw error;
    }
  };
  const settled = async (look: Promise<Task>): Promise<TaskStatus> => {
    const task = await look;
    return toStatus(task, await outcomeOf(task));
  };
  const parts: SourceParts = { calls, claim: (taskId) => void watchOf(taskId), settled };

  return {
    flags: `--url ${shellWord(url.href)}${isModern || wire === "none" ? "" : ` --wire ${wire}`}`,
    wire,
    answeredBy: isModern || wire === "none" ? "command" : "follower",
    callTool: (tool, input, call) => told(startCall(parts, asks, { tool, input }, call), "tools/call"),
    readTask: (taskId) => {
      if (asks) watchOf(taskId);
      return told(settled(calls.read(taskId)));
    },
    nextStatus: ({ taskId }, signal) => told(settled(nextLook(watchOf(taskId), signal))),
    readResult: ({ taskId }) =>
      told(
        calls
          .resume(taskId)
          .result()
          .then((result) => wholeOf(calls, result)),
      ),
    answerTask: async (taskId, answers) => told(calls.answer(taskId, toWireAnswers(answers))),
    cancelTask: async (taskId) => {
      const task = await told(calls.read(taskId));
      const resumed = calls.resume(taskId);
      await told(resumed.cancel()).finally(resumed.detach);
      // The draft cancels by the request of the session that made it; with the ID alone a task can only be deleted.
      if (wire === "sep-1686") return { ...toStatus(task), state: "cancelled", questions: [] };
      return told(settled(calls.read(taskId)));
    },
    listTasks: async function* () {
      try {
        for await (const task of calls.list()) yield toStatus(task);
      } catch (error) {
        if (isTaskClientError(error, "unsupported")) throw cannotList(wire, url);
        throw toCliError(error, url);
      }
    },
    close: async () => closing.abort(),
  };
};

/** The commands take any JSON; over MCP what a form is filled in with is an object. */
const toWireAnswers = (answers: Answers): WireAnswers =>
  Object.fromEntries(
    Object.entries(answers).map(([key, { action, content }]) => {
      if (content === undefined) return [key, { action }];
      if (typeof content === "object" && content !== null && !Array.isArray(content)) return [key, { action, content }];
      throw usageError(`an answer has to be a JSON object, got ${JSON.stringify(content).slice(0, 80)}`);
    }),
  );

const wholeOf = async (calls: TaskClient, result: ToolResult): Promise<TaskResult> => {
  const { text, json } = await calls.readWhole(result);
  return json === undefined ? { text } : { text, json: json as JsonValue };
};

/** The look that a watch is waiting for, unless the signal is first. */
const nextLook = async (watch: AsyncIterator<Task>, signal: AbortSignal): Promise<Task> => {
  signal.throwIfAborted();
  let interrupt = (): void => {};
  const interrupted = new Promise<never>((_resolve, reject) => {
    interrupt = () => reject(signal.reason);
  });
  signal.addEventListener("abort", interrupt, { once: true });
  try {
    const look = await Promise.race([watch.next(), interrupted]);
    if (look.done === true) throw new CliError("the task is over, and was looked at again");
    return look.value;
  } finally {
    signal.removeEventListener("abort", interrupt);
  }
};

/** So long an interrupted call waits for the ID of a task that may be there (milliseconds). */
const lastWaitMs = 3_000;

/**
 * Starts a tool, and stays with the call until there is a task or an answer. Interrupted, it cancels a call that can be
 * cancelled before there is a task; on the others the answer with the task's ID is waited for, or nobody would know it.
 */
const startCall = async (
  { calls, claim, settled }: SourceParts,
  asks: boolean,
  { tool, input }: { readonly tool: string; readonly input: object },
  { ask, signal }: CallOptions,
): Promise<CallOutcome> => {
  const before = new AbortController();
  const stops = stopsBefore.has(calls.wire);
  const pending = calls.beginCall(
    tool,
    { ...input },
    {
      questions: asks ? "hold" : "leave",
      onQuestion: async (question) => {
        const answers = toWireAnswers(await ask([toQuestion(question)]));
        return answers[question.key] ?? { action: "cancel" };
      },
      cancelOnAbort: stops,
      signal: before.signal,
    },
  );
  let timer: NodeJS.Timeout | undefined;
  const giveUp = (): void => {
    if (stops) before.abort();
    else timer = setTimeout(() => before.abort(), lastWaitMs);
  };
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    // Whichever is first: an interrupted wait has no task.
    const taskId = await Promise.race([pending.created, pending.result().then(() => undefined)]);
    if (taskId === undefined) {
      const result = await pending.result();
      const whole = result.isError === true ? { text: textsOf(result).join("\n") } : await wholeOf(calls, result);
      return { kind: "result", result: whole, failed: result.isError === true };
    }
    // Before the pending call gives its questions up.
    claim(taskId);
    const { task } = pending;
    return { kind: "task", task: await settled(task === undefined ? calls.read(taskId) : Promise.resolve(task)) };
  } catch (error) {
    if (!before.signal.aborted) throw error;
    throw new CliError(toEndOfCall(error), exitCodes.interrupted, { cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
    pending.detach();
  }
};

/** What an interruption has made of a call without a task. */
const toEndOfCall = (error: unknown): string => {
  if (isTaskClientError(error, "cancelled")) return "Interrupted before the task was there: the call was cancelled.";
  return "Interrupted before the task was there: the server has not answered, and what was started may go on.";
};

const cannotList = (wire: string, url: URL): CliError =>
  usageError(
    wire === "2026-07-28"
      ? `tasks list: ${wire} over --url cannot list tasks; use --wire 2025-11-25 where the server has it, or --config on the server's host`
      : `tasks list: ${url} does not list tasks`,
  );

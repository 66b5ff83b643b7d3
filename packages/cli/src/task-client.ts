import {
  isOver,
  isTaskClientError,
  type TaskClient,
  type TaskWatch,
  type TaskStatus as WireStatus,
} from "@taskbridge/client";
import type { JsonValue } from "@taskbridge/core";
import { CliError, usageError } from "./cli-error.ts";
import type { Answers, CallOptions, CallOutcome, TaskResult, TaskSource, TaskStatus } from "./task-source.ts";
import { shellWord } from "./terminal/shell-word.ts";
import { type OpenOptions, openTaskClient } from "./wire/open-task-client.ts";
import { toCliError } from "./wire/to-cli-error.ts";
import { type Outcome, textsOf, toStatus } from "./wire/to-status.ts";

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

const taskSource = (calls: TaskClient, { url, asks }: TaskClientOptions): TaskSource => {
  const { wire } = calls;
  const isModern = wire === "2026-07-28";
  const watches = new Map<string, TaskWatch>();
  const watchOf = (taskId: string): TaskWatch => {
    const watch = watches.get(taskId) ?? calls.watch(taskId, { questions: asks });
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
  const outcomeOf = async (status: WireStatus): Promise<Outcome | undefined> => {
    if (status.result !== undefined || !isOver(status) || status.state === "cancelled") return status.result;
    try {
      return await calls.readResult(status.taskId);
    } catch (error) {
      if (isTaskClientError(error, "failed")) return error;
      throw error;
    }
  };
  const settled = async (look: Promise<WireStatus>): Promise<TaskStatus> => {
    const status = await look;
    return toStatus(status, await outcomeOf(status));
  };
  const wholeOf = async (result: Parameters<TaskClient["readWhole"]>[0]): Promise<TaskResult> => {
    const { text, json } = await calls.readWhole(result);
    return json === undefined ? { text } : { text, json: json as JsonValue };
  };

  const start = async (tool: string, input: object, { ask, signal }: CallOptions): Promise<CallOutcome> => {
    const before = new AbortController();
    const giveUp = (): void => before.abort();
    signal.addEventListener("abort", giveUp, { once: true });
    const pending = calls.beginCall(
      tool,
      { ...input },
      {
        holdQuestions: asks,
        onQuestion: async (question) => {
          const answers: Answers = await ask([question as never]);
          return (answers[question.key] ?? { action: "cancel" }) as never;
        },
        cancelOnAbort: stopsBefore.has(wire),
        ...(wire === "2025-11-25" ? {} : { signal: before.signal }),
      },
    );
    try {
      // Whichever is first: an interrupted wait has no task.
      const taskId = await Promise.race([pending.created, pending.result().then(() => undefined)]);
      if (taskId === undefined) {
        const result = await pending.result();
        const whole = result.isError === true ? { text: textsOf(result).join("\n") } : await wholeOf(result);
        return { kind: "result", result: whole, failed: result.isError === true };
      }
      // It was interrupted while the answer was on its way, and stopped.
      before.signal.throwIfAborted();
      // Claims the questions before the pending call gives them up.
      watchOf(taskId);
      const status = pending.status();
      return { kind: "task", task: await settled(status === undefined ? calls.read(taskId) : Promise.resolve(status)) };
    } finally {
      signal.removeEventListener("abort", giveUp);
      pending.detach();
    }
  };

  return {
    flags: `--url ${shellWord(url.href)}${isModern || wire === "none" ? "" : ` --wire ${wire}`}`,
    wire,
    answeredBy: isModern || wire === "none" ? "command" : "follower",
    callTool: (tool, input, call) => told(start(tool, input, call), "tools/call"),
    readTask: (taskId) => {
      if (asks) watchOf(taskId);
      return told(settled(calls.read(taskId)));
    },
    nextStatus: ({ taskId }, signal) => told(settled(watchOf(taskId).next(signal))),
    readResult: ({ taskId }) => told(calls.readResult(taskId).then(wholeOf)),
    answerTask: (taskId, answers) => told(calls.answer(taskId, answers as never)),
    cancelTask: async (taskId) => {
      const status = await told(calls.read(taskId));
      await told(calls.cancel(taskId));
      // The draft cancels by the request of the session that made it; with the ID alone a task can only be deleted.
      if (wire === "sep-1686") return { ...toStatus(status), state: "cancelled", questions: [] };
      return told(settled(calls.read(taskId)));
    },
    listTasks: async function* () {
      try {
        for await (const status of calls.list()) yield toStatus(status);
      } catch (error) {
        if (isTaskClientError(error, "unsupported")) throw cannotList(wire, url);
        throw toCliError(error, url);
      }
    },
    close: async () => {
      for (const watch of watches.values()) watch.close();
    },
  };
};

const cannotList = (wire: string, url: URL): CliError =>
  usageError(
    wire === "2026-07-28"
      ? `tasks list: ${wire} over --url cannot list tasks; use --wire 2025-11-25 where the server has it, or --config on the server's host`
      : `tasks list: ${url} does not list tasks`,
  );

import {
  isOver,
  isTaskClientError,
  type PendingCall,
  type Task,
  type TaskClient,
  type ToolResult,
} from "@taskbridge/client";
import type { JsonValue } from "@taskbridge/core";
import { unlessAborted } from "@taskbridge/core/adapter";
import { CliError, usageError } from "./cli-error.ts";
import { startCall } from "./start-call.ts";
import type { CallOptions, CallOutcome, TaskResult, TaskSource, TaskStatus } from "./task-source.ts";
import { shellWord } from "./terminal/shell-word.ts";
import { type OpenOptions, openTaskClient } from "./wire/open-task-client.ts";
import { toCliError } from "./wire/to-cli-error.ts";
import { type Outcome, textsOf, toStatus } from "./wire/to-status.ts";
import { toWireAnswers } from "./wire/to-wire-answers.ts";

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

const taskSource = (calls: TaskClient, { url, asks }: TaskClientOptions): TaskSource => {
  const { wire } = calls;
  const is2026 = wire === "2026-07-28";
  const flags = `--url ${shellWord(url.href)}${is2026 || wire === "none" ? "" : ` --wire ${wire}`}`;
  const closing = new AbortController();
  const watches = new Map<string, AsyncIterator<Task>>();
  const watchOf = (taskId: string): AsyncIterator<Task> => {
    const watch =
      watches.get(taskId) ?? calls.watch(taskId, { questions: asks ? "hold" : "leave", signal: closing.signal });
    watches.set(taskId, watch);
    return watch;
  };
  const withCliErrors = async <Value>(work: Promise<Value>, method?: string): Promise<Value> => {
    try {
      return await work;
    } catch (error) {
      throw toCliError(error, { url, wire }, method);
    }
  };
  const resultOf = (taskId: string, signal?: AbortSignal): Promise<ToolResult> =>
    calls.resume(taskId, signal === undefined ? {} : { signal }).result();
  const outcomeOf = async (task: Task, signal?: AbortSignal): Promise<Outcome | undefined> => {
    if (task.result !== undefined || !isOver(task) || task.status === "cancelled") return task.result;
    try {
      return await resultOf(task.taskId, signal);
    } catch (error) {
      if (isTaskClientError(error, "failed")) return error;
      throw error;
    }
  };
  const settled = async (reading: Promise<Task>, signal?: AbortSignal): Promise<TaskStatus> => {
    const task = await reading;
    return toStatus(task, await outcomeOf(task, signal));
  };
  const wholeOf = async (result: ToolResult): Promise<TaskResult> => {
    const { text, json } = await calls.readWhole(result);
    return json === undefined ? { text } : { text, json: json as JsonValue };
  };

  const toTask = (taskId: string, { task }: PendingCall): Promise<TaskStatus> => {
    // Claims the questions before the pending call gives them up.
    watchOf(taskId);
    return settled(task === undefined ? calls.read(taskId) : Promise.resolve(task));
  };
  const start = async (tool: string, input: object, options: CallOptions): Promise<CallOutcome> => {
    const started = await startCall({ calls, url, asks, flags, toTask }, tool, input, options);
    if (started.kind === "task") return started;
    const failed = started.result.isError === true;
    const result = failed ? { text: textsOf(started.result).join("\n") } : await wholeOf(started.result);
    return { kind: "result", result, failed };
  };

  return {
    flags,
    wire,
    answeredBy: is2026 || wire === "none" ? "command" : "follower",
    callTool: (tool, input, call) => withCliErrors(start(tool, input, call), "tools/call"),
    readTask: (taskId) => {
      if (asks) watchOf(taskId);
      return withCliErrors(settled(calls.read(taskId)));
    },
    nextStatus: ({ taskId }, signal) => withCliErrors(settled(nextSnapshot(watchOf(taskId), signal), signal)),
    readResult: ({ taskId }) => withCliErrors(resultOf(taskId).then(wholeOf)),
    answerTask: (taskId, answers) => withCliErrors(calls.answer(taskId, toWireAnswers(answers))),
    cancelTask: async (taskId) => {
      const task = await withCliErrors(calls.read(taskId));
      const resumed = calls.resume(taskId);
      await withCliErrors(resumed.cancel()).finally(resumed.detach);
      // The draft cancels by the request of the session that made it; with the ID alone a task can only be deleted.
      if (wire === "sep-1686") return { ...toStatus(task), state: "cancelled", questions: [] };
      return withCliErrors(settled(calls.read(taskId)));
    },
    listTasks: async function* () {
      try {
        for await (const task of calls.list()) yield toStatus(task);
      } catch (error) {
        if (isTaskClientError(error, "unsupported")) throw cannotList(wire, url);
        throw toCliError(error, { url, wire });
      }
    },
    close: async () => closing.abort(),
  };
};

/** The look that a watch is waiting for, unless the signal is first. */
const nextSnapshot = async (watch: AsyncIterator<Task>, signal: AbortSignal): Promise<Task> => {
  const reading = await unlessAborted(signal, watch.next());
  if (reading.done === true) throw new CliError("the task is over, and was looked at again");
  return reading.value;
};

const cannotList = (wire: string, url: URL): CliError =>
  usageError(
    wire === "2026-07-28"
      ? `tasks list: ${wire} over --url cannot list tasks; use --wire 2025-11-25 where the server has it, or --config on the server's host`
      : `tasks list: ${url} does not list tasks`,
  );

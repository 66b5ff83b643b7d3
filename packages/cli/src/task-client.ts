import {
  isOver,
  isTaskClientError,
  type PendingCall,
  type TaskClient,
  type TaskWatch,
  type TaskStatus as WireStatus,
} from "@taskbridge/client";
import type { JsonValue } from "@taskbridge/core";
import { CliError, usageError } from "./cli-error.ts";
import type { CallOptions, CallOutcome, TaskResult, TaskSource, TaskStatus } from "./task-source.ts";
import { shellWord } from "./terminal/shell-word.ts";
import { type OpenOptions, openTaskClient } from "./wire/open-task-client.ts";
import { startCall } from "./wire/start-call.ts";
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
  const isModern = wire === "2026-07-28";
  const flags = `--url ${shellWord(url.href)}${isModern || wire === "none" ? "" : ` --wire ${wire}`}`;
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
  const outcomeOf = async (status: WireStatus, signal?: AbortSignal): Promise<Outcome | undefined> => {
    if (status.result !== undefined || !isOver(status) || status.state === "cancelled") return status.result;
    try {
      return await calls.readResult(status.taskId, signal);
    } catch (error) {
      if (isTaskClientError(error, "failed")) return error;
      throw error;
    }
  };
  const settled = async (look: Promise<WireStatus>, signal?: AbortSignal): Promise<TaskStatus> => {
    const status = await look;
    return toStatus(status, await outcomeOf(status, signal));
  };
  const wholeOf = async (result: Parameters<TaskClient["readWhole"]>[0]): Promise<TaskResult> => {
    const { text, json } = await calls.readWhole(result);
    return json === undefined ? { text } : { text, json: json as JsonValue };
  };

  const toTask = (taskId: string, pending: PendingCall): Promise<TaskStatus> => {
    // Claims the questions before the pending call gives them up.
    watchOf(taskId);
    const status = pending.status();
    return settled(status === undefined ? calls.read(taskId) : Promise.resolve(status));
  };
  const start = async (tool: string, input: object, options: CallOptions): Promise<CallOutcome> => {
    const started = await startCall({ calls, url, asks, flags, toTask }, tool, input, options);
    if (started.kind === "task") return started;
    const failed = started.result.isError === true;
    return {
      kind: "result",
      result: failed ? { text: textsOf(started.result).join("\n") } : await wholeOf(started.result),
      failed,
    };
  };

  return {
    flags,
    wire,
    answeredBy: isModern || wire === "none" ? "command" : "follower",
    callTool: (tool, input, call) => told(start(tool, input, call), "tools/call"),
    readTask: (taskId) => {
      if (asks) watchOf(taskId);
      return told(settled(calls.read(taskId)));
    },
    nextStatus: ({ taskId }, signal) => told(settled(watchOf(taskId).next(signal), signal)),
    readResult: ({ taskId }) => told(calls.readResult(taskId).then(wholeOf)),
    answerTask: (taskId, answers) => told(calls.answer(taskId, toWireAnswers(answers))),
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

import { setTimeout as sleep } from "node:timers/promises";
import {
  isOver,
  isTaskClientError,
  type PendingCall,
  type TaskClient,
  type TaskWatch,
  type GivenAnswer as WireAnswer,
  type Question as WireQuestion,
  type TaskStatus as WireStatus,
} from "@taskbridge/client";
import type { JsonValue } from "@taskbridge/core";
import { CliError, exitCodes, interruptedError, usageError } from "./cli-error.ts";
import type { CallOptions, CallOutcome, TaskResult, TaskSource, TaskStatus } from "./task-source.ts";
import { shellWord } from "./terminal/shell-word.ts";
import { taskCommand } from "./terminal/task-command.ts";
import { unlessAborted } from "./unless-aborted.ts";
import { type OpenOptions, openTaskClient } from "./wire/open-task-client.ts";
import { toCliError } from "./wire/to-cli-error.ts";
import { type Outcome, textsOf, toQuestion, toStatus } from "./wire/to-status.ts";
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

/** Interrupted before a task is there, these calls are cancelled: the others have an ID as soon as the server answers at all. */
const stopsUntold = new Set(["none", "sep-1686"]);

/** So long an interrupted call waits for the ID of its task, which is all that leads back to it (milliseconds). */
const patienceMs = 3_000;
const cancelPatienceMs = 1_000;

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

  const start = async (tool: string, input: object, { ask, signal, tell }: CallOptions): Promise<CallOutcome> => {
    if (signal.aborted) throw interruptedError("Interrupted: nothing was sent.");
    const cancelling = new AbortController();
    const leaving = new AbortController();
    const pending = calls.beginCall(
      tool,
      { ...input },
      {
        // Where nobody can be asked, a server without tasks is to know it: it then hands out what can be answered elsewhere.
        ...(wire === "none" && !asks ? {} : { onQuestion: toOnQuestion(ask), holdQuestions: asks }),
        ...(stopsUntold.has(wire) ? { signal: cancelling.signal, cancelOnAbort: true } : {}),
      },
    );
    let hasTask = false;
    let patience: NodeJS.Timeout | undefined;
    const onInterrupt = (): void => {
      patience = setTimeout(() => leaving.abort(signal.reason), patienceMs);
      // What has no task cannot go on without this process.
      if (wire === "none") cancelling.abort();
      else tell?.("Interrupted: waiting for the ID of the task, which goes on; once more ends this at once.");
    };
    signal.addEventListener("abort", onInterrupt, { once: true });
    try {
      // Whichever is first: an interrupted wait has no task.
      const first = Promise.race([pending.created, pending.result().then(() => undefined)]);
      const taskId = await unlessAborted(leaving.signal, first);
      if (taskId === undefined) {
        const result = await pending.result();
        const whole = result.isError === true ? { text: textsOf(result).join("\n") } : await wholeOf(result);
        return { kind: "result", result: whole, failed: result.isError === true };
      }
      hasTask = true;
      // Claims the questions before the pending call gives them up.
      watchOf(taskId);
      const status = pending.status();
      const task = settled(status === undefined ? calls.read(taskId) : Promise.resolve(status));
      return { kind: "task", task: await unlessAborted(leaving.signal, task) };
    } catch (error) {
      if (!signal.aborted) throw wire === "none" && !asks ? withoutTerminal(error, url) : error;
      if (!hasTask) cancelling.abort();
      throw await toInterruption(pending, { hasTask, isLate: leaving.signal.aborted, flags });
    } finally {
      clearTimeout(patience);
      signal.removeEventListener("abort", onInterrupt);
      pending.detach();
    }
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

const toOnQuestion =
  (ask: CallOptions["ask"]) =>
  async (question: WireQuestion): Promise<WireAnswer> => {
    const answers = await ask([toQuestion(question)]);
    return toWireAnswers(answers)[question.key] ?? { action: "cancel" };
  };

/** Whoever left the wait does not know of a task: what became of the call, and how to find out more. */
const toInterruption = async (
  pending: PendingCall,
  { hasTask, isLate, flags }: { readonly hasTask: boolean; readonly isLate: boolean; readonly flags: string },
): Promise<CliError> => {
  const { taskId } = pending;
  const about = taskId === undefined ? {} : { taskId, hint: `  ${taskCommand("watch", taskId, flags)}` };
  if (hasTask) return interruptedError("Interrupted before it was known how the task stands. It goes on:", about);
  const isCancelled = pending.result().then(
    () => false,
    (error: unknown) => isTaskClientError(error, "cancelled"),
  );
  const patience = sleep(cancelPatienceMs, false, { ref: false });
  if (stopsUntold.has(pending.wire) && (await Promise.race([isCancelled, patience]))) {
    return interruptedError("Interrupted: the call was cancelled.");
  }
  return isLate
    ? interruptedError("Interrupted: the server has not answered the call, and may run it all the same.", about)
    : interruptedError("Interrupted before there was a task.");
};

/** A server may ask although it was told that nobody can be asked. */
const withoutTerminal = (error: unknown, url: URL): unknown =>
  isTaskClientError(error, "unsupported")
    ? new CliError(`${url}: the tool asks a person before it answers, and this is no terminal`, exitCodes.failed, {
        cause: error,
        code: error.code,
      })
    : error;

const cannotList = (wire: string, url: URL): CliError =>
  usageError(
    wire === "2026-07-28"
      ? `tasks list: ${wire} over --url cannot list tasks; use --wire 2025-11-25 where the server has it, or --config on the server's host`
      : `tasks list: ${url} does not list tasks`,
  );

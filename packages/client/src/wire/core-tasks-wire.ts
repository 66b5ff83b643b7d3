import {
  hasTaskListCapabilityV1,
  hasTaskToolCallCapabilityV1,
  type ServerTaskCapabilitiesV1,
  shouldCallToolAsTaskV1,
} from "@modelcontextprotocol/ext-tasks/core/v1";
import { isTaskClientError, TaskClientError } from "../client-error.ts";
import type { Clock } from "../clock.ts";
import type { Connection } from "../connection.ts";
import { isObject, type Members, toMembers } from "../is-object.ts";
import { orAborted } from "../or-aborted.ts";
import type { QuestionInbox } from "../question-inbox.ts";
import type { Task } from "../task.ts";
import { toEndError, toTaskError } from "../to-outcome.ts";
import { toTask } from "../to-task.ts";
import { toToolResult } from "../to-tool-result.ts";
import type { Begun, CallRequest, OpenCall, Wire } from "../wire.ts";
import { listed } from "./listed.ts";
import { noTasks } from "./no-tasks.ts";
import { openTaskCall } from "./open-task-call.ts";
import { openPlainCall } from "./plain-wire.ts";
import { callParams, sendCall } from "./send-call.ts";

const name = "2025-11-25";

/** What a server of this revision says of its tasks; undefined where it takes no calls as tasks. */
export const coreTasksCapability = (capabilities: Members): ServerTaskCapabilitiesV1 | undefined => {
  const { tasks } = capabilities;
  if (!isObject(tasks)) return undefined;
  return hasTaskToolCallCapabilityV1(tasks) ? (tasks as ServerTaskCapabilitiesV1) : undefined;
};

/** The tasks of revision 2025-11-25 itself. */
export const coreTasksWire = (
  connection: Connection,
  capability: ServerTaskCapabilitiesV1,
  { inbox, clock }: { readonly inbox: QuestionInbox; readonly clock: Clock },
): Wire => {
  const about = async (method: string, taskId: string, signal?: AbortSignal): Promise<Members> => {
    try {
      return await connection.patiently(method, { taskId }, signal === undefined ? {} : { signal });
    } catch (error) {
      throw toTaskError(error, taskId, method);
    }
  };
  const read = (task: unknown, taskId: string): Task => toTask(name, task, { taskId, questions: inbox.of(taskId) });
  const readNew = (task: unknown): Task => read(task, String(toMembers(task)["taskId"]));
  const acceptsTask = toolAccepting(connection, capability);
  const listener = questionListener(connection);
  const send = async ({ tool, args, meta, keepAliveMs }: CallRequest, signal: AbortSignal): Promise<Begun> => {
    const task = keepAliveMs === undefined ? {} : { ttl: keepAliveMs };
    const params = { ...callParams(tool, args, meta), task };
    const answer = await sendCall(connection, params, { signal, cancels: true });
    // A server may answer at once all the same.
    if (answer["task"] === undefined) return { kind: "result", result: toToolResult(answer) };
    return { kind: "task", task: readNew(answer["task"]) };
  };
  const cancelTask = async (taskId: string): Promise<void> => {
    await about("tasks/cancel", taskId);
  };

  return {
    name,
    begin: (call) =>
      openChosenCall(acceptsTask(call.tool), (isTask) =>
        isTask ? openTaskCall((signal) => send(call, signal), cancelTask, clock) : openPlainCall(connection, call),
      ),
    read: async (taskId, signal) => {
      const task = read(await about("tasks/get", taskId, signal), taskId);
      if (task.status === "input_required") listener.listen(taskId);
      return task;
    },
    outcome: async (task, signal) => {
      const { taskId, status } = task;
      // `failed` includes tools that report a failure, whose result is told apart from the task.
      if (status !== "completed" && status !== "failed") throw toEndError(task);
      try {
        return toToolResult(await about("tasks/result", taskId, signal));
      } catch (error) {
        if (!isTaskClientError(error, "refused")) throw error;
        throw new TaskClientError("failed", error.message, { ...error, taskId, cause: error });
      }
    },
    answer: async (taskId, answers) => inbox.answer(taskId, answers),
    cancel: cancelTask,
    list: async function* () {
      if (!hasTaskListCapabilityV1(capability)) throw noTasks("listing tasks", name);
      const tasks = listed((method, params) => connection.patiently(method, params), "tasks/list", "tasks");
      for await (const task of tasks) yield readNew(task);
    },
    watch: (taskId, wake, asks) => {
      const ends = [
        connection.onNotification((method, params) => {
          if (method === "notifications/tasks/status" && params["taskId"] === taskId) wake();
        }),
        ...(asks ? [listener.watch(taskId), inbox.claim(taskId, wake)] : []),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
    request: (method, params) => connection.patiently(method, params),
  };
};

/** A call whose kind is still asked for. Cancelled before that is known, it is not sent. */
const openChosenCall = (isTask: Promise<boolean>, open: (isTask: boolean) => OpenCall): OpenCall => {
  const unsent = new AbortController();
  let opened: OpenCall | undefined;
  return {
    begun: orAborted(isTask, unsent.signal).then((kind) => {
      opened = open(kind);
      return opened.begun;
    }),
    cancel: async () => {
      if (opened === undefined)
        unsent.abort(new TaskClientError("cancelled", "the call was cancelled before it was sent"));
      await opened?.cancel();
    },
  };
};

/** A server may put its questions on the stream of a wait for the result only. */
const questionListener = (
  connection: Connection,
): { listen(taskId: string): void; watch(taskId: string): () => void } => {
  const idle = new Map<string, AbortSignal>();
  return {
    watch: (taskId) => {
      const over = new AbortController();
      idle.set(taskId, over.signal);
      return () => {
        if (idle.get(taskId) === over.signal) idle.delete(taskId);
        over.abort();
      };
    },
    /** One wait at a time, for as long as the task is watched. */
    listen: (taskId) => {
      const signal = idle.get(taskId);
      if (signal === undefined || signal.aborted) return;
      idle.delete(taskId);
      const done = (): void => {
        if (!signal.aborted && !idle.has(taskId)) idle.set(taskId, signal);
      };
      // However it ends, the next look at the task tells.
      connection.request("tasks/result", { taskId }, { signal, cancels: true }).then(done, done);
    },
  };
};

/** Whether a call of a tool may become a task, which the tool itself says. One that is not there is the call's to refuse. */
const toolAccepting = (
  connection: Connection,
  capability: ServerTaskCapabilitiesV1,
): ((tool: string) => Promise<boolean>) => {
  let known: Promise<ReadonlyMap<unknown, Members>> | undefined;
  connection.onNotification((method) => {
    if (method === "notifications/tools/list_changed") known = undefined;
  });
  const read = async (): Promise<ReadonlyMap<unknown, Members>> => {
    const tools = new Map<unknown, Members>();
    const all = listed((method, params) => connection.patiently(method, params), "tools/list", "tools");
    for await (const tool of all) tools.set(tool["name"], tool);
    return tools;
  };
  const load = (): Promise<ReadonlyMap<unknown, Members>> => {
    const loading = read();
    known = loading;
    loading.catch(() => {
      if (known === loading) known = undefined;
    });
    return loading;
  };
  return async (name) => {
    const tool = (await (known ?? load())).get(name) ?? (await load()).get(name);
    return tool !== undefined && shouldCallToolAsTaskV1(capability, tool as never, true);
  };
};

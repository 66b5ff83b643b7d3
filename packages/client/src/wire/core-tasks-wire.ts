import {
  hasTaskListCapabilityV1,
  hasTaskToolCallCapabilityV1,
  type ServerTaskCapabilitiesV1,
  shouldCallToolAsTaskV1,
} from "@modelcontextprotocol/ext-tasks/core/v1";
import { isTaskClientError, TaskClientError } from "../client-error.ts";
import type { Connection } from "../connection.ts";
import { isMembers, type Members, toMembers } from "../members.ts";
import type { QuestionInbox } from "../question-inbox.ts";
import type { TaskStatus } from "../task-status.ts";
import { toEndError, toTaskError } from "../to-outcome.ts";
import { toTaskStatus } from "../to-task-status.ts";
import { toToolResult } from "../to-tool-result.ts";
import type { Begun, CallRequest, OpenCall, Wire } from "../wire.ts";
import { listed } from "./listed.ts";
import { noTasks } from "./no-tasks.ts";
import { openPlainCall } from "./plain-wire.ts";
import { callParams, sendCall } from "./send-call.ts";

const name = "2025-11-25";

/** What a server of this revision says of its tasks; undefined where it takes no calls as tasks. */
export const coreTasksCapability = (capabilities: Members): ServerTaskCapabilitiesV1 | undefined => {
  const { tasks } = capabilities;
  if (!isMembers(tasks)) return undefined;
  return hasTaskToolCallCapabilityV1(tasks) ? (tasks as ServerTaskCapabilitiesV1) : undefined;
};

/** The tasks of revision 2025-11-25 itself. */
export const coreTasksWire = (
  connection: Connection,
  capability: ServerTaskCapabilitiesV1,
  inbox: QuestionInbox,
): Wire => {
  const about = async (method: string, taskId: string, signal?: AbortSignal): Promise<Members> => {
    try {
      return await connection.patiently(method, { taskId }, signal === undefined ? {} : { signal });
    } catch (error) {
      throw toTaskError(error, taskId, method);
    }
  };
  const toStatus = (task: unknown, taskId?: string): TaskStatus => {
    const id = taskId ?? String(toMembers(task)["taskId"]);
    return toTaskStatus(name, task, { questions: inbox.of(id), ...(taskId === undefined ? {} : { taskId }) });
  };
  const takesTask = toolTaking(connection, capability);
  const listening = new Map<string, AbortController>();
  /** A server may put its questions on the stream of a wait for the result only. */
  const listen = (taskId: string): void => {
    const waiting = listening.get(taskId);
    if (waiting === undefined || waiting.signal.aborted) return;
    const over = new AbortController();
    const giveUp = (): void => over.abort();
    waiting.signal.addEventListener("abort", giveUp, { once: true });
    listening.delete(taskId);
    const done = (): void => {
      if (!waiting.signal.aborted) listening.set(taskId, waiting);
    };
    // However it ends, the next look at the task tells.
    connection.request("tasks/result", { taskId }, { signal: over.signal, cancels: true }).then(done, done);
  };
  const call = async ({ tool, args, meta, keepAliveMs }: CallRequest): Promise<Begun> => {
    const task = keepAliveMs === undefined ? {} : { ttl: keepAliveMs };
    const answer = await sendCall(connection, { ...callParams(tool, args, meta), task });
    // A server may answer at once all the same.
    if (answer["task"] === undefined) return { kind: "result", result: toToolResult(answer) };
    return { kind: "task", status: toStatus(answer["task"]) };
  };

  const wire: Wire = {
    name,
    begin: (request) => {
      let open: OpenCall | undefined;
      const begun = takesTask(request.tool).then((isTask) => {
        open = isTask ? openTaskCall(call(request), wire) : openPlainCall(connection, request);
        return open.begun;
      });
      return {
        begun,
        cancel: async () => {
          if (open === undefined) await takesTask(request.tool);
          await open?.cancel();
        },
      };
    },
    read: async (taskId, signal) => {
      const status = toStatus(await about("tasks/get", taskId, signal), taskId);
      if (status.state === "input_required") listen(taskId);
      return status;
    },
    outcome: async (status, signal) => {
      const { taskId, state } = status;
      // `failed` includes tools that report a failure, whose result is told apart from the task.
      if (state !== "completed" && state !== "failed") throw toEndError(status);
      try {
        return toToolResult(await about("tasks/result", taskId, signal));
      } catch (error) {
        if (!isTaskClientError(error, "refused")) throw error;
        throw new TaskClientError("failed", error.message, { ...error, taskId, cause: error });
      }
    },
    answer: async (taskId, answers) => inbox.answer(taskId, answers),
    cancel: async (taskId) => {
      await about("tasks/cancel", taskId);
    },
    list: async function* () {
      if (!hasTaskListCapabilityV1(capability)) throw noTasks("listing tasks", name);
      const tasks = listed((method, params) => connection.patiently(method, params), "tasks/list", "tasks");
      for await (const task of tasks) yield toStatus(task);
    },
    watch: (taskId, wake, asks) => {
      const over = new AbortController();
      if (asks) listening.set(taskId, over);
      const unclaim = asks ? inbox.claim(taskId, wake) : undefined;
      const stop = connection.onNotification((method, params) => {
        if (method === "notifications/tasks/status" && params["taskId"] === taskId) wake();
      });
      return () => {
        stop();
        unclaim?.();
        listening.delete(taskId);
        over.abort();
      };
    },
    request: (method, params) => connection.patiently(method, params),
  };
  return wire;
};

const openTaskCall = (begun: Promise<Begun>, wire: Wire): OpenCall => ({
  begun,
  cancel: async () => {
    const outcome = await begun;
    if (outcome.kind === "task") await wire.cancel(outcome.status.taskId);
  },
});

/** Whether a call of a tool may become a task, which the tool itself says. One that is not there is the call's to refuse. */
const toolTaking = (
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

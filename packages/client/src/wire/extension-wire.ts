import { contributeTaskFilterV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import type { Clock } from "../clock.ts";
import type { Connection } from "../connection.ts";
import type { Members } from "../is-object.ts";
import type { RequestOptions } from "../tap-transport.ts";
import { toEndError, toTaskError } from "../to-outcome.ts";
import { toElicitResult, toQuestions } from "../to-question.ts";
import { toTask } from "../to-task.ts";
import { toToolResult } from "../to-tool-result.ts";
import type { Begun, CallRequest, Wire } from "../wire.ts";
import { type FramingOptions, framing2026 } from "./framing-2026.ts";
import { noTasks } from "./no-tasks.ts";
import { openTaskCall } from "./open-task-call.ts";
import { callInRounds } from "./send-call.ts";

const name = "2026-07-28";

/** The tasks extension of revision 2026-07-28. */
export const extensionWire = (connection: Connection, options: FramingOptions, clock: Clock): Wire => {
  const framed = framing2026(options, true);
  const about = async (method: string, taskId: string, params: Members = {}, signal?: AbortSignal) => {
    const limits: RequestOptions = signal === undefined ? {} : { signal };
    try {
      return await connection.patiently(method, framed({ ...params, taskId }), limits);
    } catch (error) {
      throw toTaskError(error, taskId, method);
    }
  };
  const send = async (call: CallRequest, signal: AbortSignal): Promise<Begun> => {
    const answer = await callInRounds(connection, call, framed, { signal, cancels: !connection.hasStreams });
    if (answer["resultType"] === "task") return { kind: "task", task: toTask(name, answer) };
    return { kind: "result", result: toToolResult(answer) };
  };

  const wire: Wire = {
    name,
    begin: (call) => openTaskCall((signal) => send(call, signal), wire.cancel, clock),
    read: async (taskId, signal) => {
      const task = await about("tasks/get", taskId, {}, signal);
      return toTask(name, task, { taskId, questions: toQuestions(task["inputRequests"]) });
    },
    outcome: async (task) => {
      if (task.status !== "completed") throw toEndError(task);
      // The answer of the call has no result in it, only a look does.
      return task.result ?? wire.outcome(await wire.read(task.taskId));
    },
    answer: async (taskId, answers) => {
      // The server takes answers to nothing without a word.
      const { questions } = await wire.read(taskId);
      const isOpen = (key: string): boolean => questions.some((question) => question.key === key);
      const responses = Object.entries(answers).filter(([key]) => isOpen(key));
      if (responses.length > 0) {
        const inputResponses = Object.fromEntries(responses.map(([key, answer]) => [key, toElicitResult(answer)]));
        await about("tasks/update", taskId, { inputResponses });
      }
      return Object.keys(answers).filter((key) => !isOpen(key));
    },
    cancel: async (taskId) => {
      await about("tasks/cancel", taskId);
    },
    // biome-ignore lint/correctness/useYield: it has nothing to give
    list: async function* () {
      throw noTasks("listing tasks", name);
    },
    watch: (taskId, wake) => {
      const over = new AbortController();
      const stop = connection.onNotification((method, params) => {
        if (method === "notifications/tasks" && params["taskId"] === taskId) wake();
      });
      const listen = { signal: over.signal, cancels: !connection.hasStreams };
      const filter = contributeTaskFilterV2({}, [taskId]) as Members;
      // However it ends, polling goes on: a server without streams, or with too many of them, refuses.
      connection.request("subscriptions/listen", framed(filter), listen).then(wake, () => {});
      return () => {
        stop();
        over.abort();
      };
    },
    request: (method, params) => connection.patiently(method, framed(params)),
  };
  return wire;
};

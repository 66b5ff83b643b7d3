import { contributeTaskFilterV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import type { Connection } from "../connection.ts";
import type { Members } from "../members.ts";
import type { RequestOptions } from "../tap-transport.ts";
import { toEndError, toTaskError } from "../to-outcome.ts";
import { toElicitResult, toQuestions } from "../to-question.ts";
import { toTaskStatus } from "../to-task-status.ts";
import { toToolResult } from "../to-tool-result.ts";
import type { Begun, CallRequest, Wire } from "../wire.ts";
import { type FramingOptions, modernFraming } from "./modern-framing.ts";
import { noTasks } from "./no-tasks.ts";
import { callInRounds } from "./send-call.ts";

const name = "2026-07-28";

/** The tasks extension of revision 2026-07-28. */
export const extensionWire = (connection: Connection, options: FramingOptions): Wire => {
  const framed = modernFraming(options, true);
  const about = async (method: string, taskId: string, params: Members = {}, signal?: AbortSignal) => {
    const limits: RequestOptions = signal === undefined ? {} : { signal };
    try {
      return await connection.patiently(method, framed({ ...params, taskId }), limits);
    } catch (error) {
      throw toTaskError(error, taskId, method);
    }
  };
  const call = async (request: CallRequest): Promise<Begun> => {
    const answer = await callInRounds(connection, request, framed);
    if (answer["resultType"] === "task") return { kind: "task", status: toTaskStatus(name, answer) };
    return { kind: "result", result: toToolResult(answer) };
  };

  const wire: Wire = {
    name,
    begin: (request) => {
      const begun = call(request);
      return {
        begun,
        cancel: async () => {
          const outcome = await begun;
          if (outcome.kind === "task") await wire.cancel(outcome.status.taskId);
        },
      };
    },
    read: async (taskId, signal) => {
      const task = await about("tasks/get", taskId, {}, signal);
      return toTaskStatus(name, task, { taskId, questions: toQuestions(task["inputRequests"]) });
    },
    outcome: async (status) => {
      if (status.state !== "completed") throw toEndError(status);
      // The answer of the call has no result in it, only a look does.
      return status.result ?? wire.outcome(await wire.read(status.taskId));
    },
    answer: async (taskId, answers) => {
      const responses = Object.entries(answers).map(([key, answer]) => [key, toElicitResult(answer)]);
      await about("tasks/update", taskId, { inputResponses: Object.fromEntries(responses) });
      return [];
    },
    cancel: async (taskId) => {
      await about("tasks/cancel", taskId);
    },
    list: () => {
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

import { randomUUID } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Connection } from "../connection.ts";
import type { Members } from "../is-object.ts";
import type { QuestionInbox } from "../question-inbox.ts";
import { toEndError } from "../to-outcome.ts";
import { toTask } from "../to-task.ts";
import { toToolResult } from "../to-tool-result.ts";
import type { Wire } from "../wire.ts";
import { listed } from "./listed.ts";
import { openSep1686Call } from "./open-sep1686-call.ts";
import { relatedMeta } from "./related-task.ts";
import { sep1686Requests } from "./sep1686-requests.ts";

const name = "sep-1686";

export interface Sep1686Options {
  readonly clock: Clock;
  /** How long to wait for the notice of the task before looking for it (milliseconds). */
  readonly noticeTimeoutMs: number;
}

/** The SEP-1686 draft, in which the client mints the ID. It has no capability: servers that do not know it ignore the mark. */
export const sep1686Wire = (connection: Connection, inbox: QuestionInbox, options: Sep1686Options): Wire => {
  const requests = sep1686Requests(connection);
  const wire: Wire = {
    name,
    begin: ({ taskId = randomUUID(), ...call }) =>
      openSep1686Call({ connection, requests, wire, ...options }, { ...call, taskId }),
    read: async (taskId, signal) => {
      const task = await requests.about("tasks/get", taskId, signal);
      if (task["keepAlive"] !== undefined) requests.learn();
      return toTask(name, task, { taskId, questions: inbox.of(taskId) });
    },
    outcome: async (task, signal) => {
      if (task.status !== "completed") throw toEndError(task);
      return toToolResult(await requests.about("tasks/result", task.taskId, signal));
    },
    answer: async (taskId, answers) => inbox.answer(taskId, answers),
    // Only the session that sent the call can cancel it by its request; whoever else has the ID can delete the task.
    cancel: async (taskId) => {
      await requests.about("tasks/delete", taskId);
    },
    list: async function* () {
      const meta = { _meta: relatedMeta("") };
      const request = (method: string, params: Members): Promise<Members> =>
        connection.patiently(method, { ...params, ...meta });
      for await (const task of listed(request, "tasks/list", "tasks")) {
        yield toTask(name, task, { questions: inbox.of(String(task["taskId"])) });
      }
    },
    watch: (taskId, wake, asks) => (asks ? inbox.claim(taskId, wake) : () => {}),
    request: (method, params) => connection.patiently(method, params),
  };
  return wire;
};

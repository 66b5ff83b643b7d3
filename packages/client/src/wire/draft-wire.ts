import { randomUUID } from "node:crypto";
import { isTaskClientError } from "../client-error.ts";
import type { Clock } from "../clock.ts";
import type { Connection } from "../connection.ts";
import type { Members } from "../members.ts";
import type { QuestionInbox } from "../question-inbox.ts";
import { invalidParams, methodNotFound } from "../to-client-error.ts";
import { toEndError, toTaskError } from "../to-outcome.ts";
import { toTaskStatus } from "../to-task-status.ts";
import { toToolResult } from "../to-tool-result.ts";
import type { Wire } from "../wire.ts";
import { listed } from "./listed.ts";
import { openDraftCall } from "./open-draft-call.ts";

const name = "sep-1686";

/** Requests about tasks of the draft: each says in its `_meta` which task it is about. */
export interface DraftRequests {
  about(method: string, taskId: string, signal?: AbortSignal): Promise<Members>;
  /** Whether the server knows the draft at all; where it does not, a call that is sent again runs again. */
  knowsDraft(): Promise<boolean>;
  /** It has said something that only a server of the draft says. */
  learn(): void;
}

export const relatedMeta = (taskId: string): Members => ({ "modelcontextprotocol.io/related-task": { taskId } });

export interface DraftOptions {
  readonly clock: Clock;
  /** How long to wait for the notice of the task before looking for it (milliseconds). */
  readonly noticeMs: number;
}

/** The SEP-1686 draft, in which the client mints the ID. It has no capability: servers that do not know it ignore the mark. */
export const draftWire = (connection: Connection, inbox: QuestionInbox, options: DraftOptions): Wire => {
  const requests = draftRequests(connection);
  const wire: Wire = {
    name,
    begin: (call) => openDraftCall({ connection, requests, wire, ...options }, call),
    read: async (taskId, signal) => {
      const task = await requests.about("tasks/get", taskId, signal);
      if (task["keepAlive"] !== undefined) requests.learn();
      return toTaskStatus(name, task, { taskId, questions: inbox.of(taskId) });
    },
    outcome: async (status, signal) => {
      if (status.state !== "completed") throw toEndError(status);
      return toToolResult(await requests.about("tasks/result", status.taskId, signal));
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
        yield toTaskStatus(name, task, { questions: inbox.of(String(task["taskId"])) });
      }
    },
    watch: (taskId, wake, asks) => (asks ? inbox.claim(taskId, wake) : () => {}),
    request: (method, params) => connection.patiently(method, params),
  };
  return wire;
};

const draftRequests = (connection: Connection): DraftRequests => {
  let known: Promise<boolean> | undefined;
  const about: DraftRequests["about"] = async (method, taskId, signal) => {
    const params = { taskId, _meta: relatedMeta(taskId) };
    try {
      return await connection.patiently(method, params, signal === undefined ? {} : { signal });
    } catch (error) {
      throw toTaskError(error, taskId, method);
    }
  };
  /** Only the draft deletes, so a server that misses an ID that nobody has knows the draft. */
  const probe = async (): Promise<boolean> => {
    try {
      await about("tasks/delete", `probe-${randomUUID()}`);
      return true;
    } catch (error) {
      if (isTaskClientError(error) && error.rpc?.code === invalidParams) return true;
      if (isTaskClientError(error) && error.rpc?.code === methodNotFound) return false;
      throw error;
    }
  };
  return {
    about,
    learn: () => {
      known = Promise.resolve(true);
    },
    knowsDraft: () => {
      known ??= probe().catch((error: unknown) => {
        known = undefined;
        throw error;
      });
      return known;
    },
  };
};

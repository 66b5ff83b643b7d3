import { isTaskClientError, TaskClientError } from "../client-error.ts";
import type { Clock } from "../clock.ts";
import type { Connection } from "../connection.ts";
import { type Members, toMembers } from "../members.ts";
import type { TaskStatus, ToolResult } from "../task-status.ts";
import { invalidParams, methodNotFound } from "../to-client-error.ts";
import { toToolResult } from "../to-tool-result.ts";
import type { Begun, CallRequest, OpenCall, Wire } from "../wire.ts";
import { type DraftRequests, relatedMeta } from "./draft-wire.ts";
import { callParams } from "./send-call.ts";

export interface DraftParts {
  readonly connection: Connection;
  readonly requests: DraftRequests;
  readonly wire: Pick<Wire, "read" | "cancel">;
  readonly clock: Clock;
  readonly noticeMs: number;
}

/** What tells first how the call stands. */
type News =
  | { readonly kind: "answer"; readonly result: ToolResult }
  | { readonly kind: "fault"; readonly error: unknown }
  | { readonly kind: "noticed" }
  | { readonly kind: "found"; readonly status: TaskStatus }
  /** The server, which knows the draft, has no such task though it should. */
  | { readonly kind: "missing" }
  | { readonly kind: "cancelled" };

/** A call is sent again this many times at most. */
const mostSends = 10;
const longestProbeMs = 30_000;
/** So often the task may be missing before the call is taken for lost. */
const mostMisses = 3;

/**
 * Sends a call with its own task ID and races the notice that the task is there against the answer of the call itself,
 * as the draft describes. A server without tasks sends no notice and its answer wins. Where notice or connection are lost,
 * the task is looked for, and the call sent again with the same ID, which starts nothing twice.
 */
export const openDraftCall = (parts: DraftParts, call: CallRequest): OpenCall => {
  const { connection, requests, wire } = parts;
  const taskId = call.taskId ?? "";
  const over = new AbortController();
  const notice = noticeOf(connection, taskId);
  const sent = { session: connection.session(), requestId: "" };
  const answers: Promise<ToolResult>[] = [];
  let cancel = (): void => {};
  const cancelled = new Promise<void>((resolve) => {
    cancel = resolve;
  });
  const send = (): void => {
    const onSend = (requestId: string): void => {
      // Read here, because a lost session may just have been replaced.
      Object.assign(sent, { session: connection.session(), requestId });
    };
    const answer = connection.request("tools/call", toParams(call, taskId), { onSend }).then(toToolResult);
    // Who is not waiting any more does not ask.
    answer.catch(() => {});
    answers.push(answer);
  };
  send();

  const followed = (status: TaskStatus): Begun => {
    requests.learn();
    const answer = Promise.any(answers);
    answer.catch(() => {});
    return { kind: "task", status, answer };
  };
  const settle = async (news: News): Promise<Begun | "again"> => {
    if (news.kind === "answer") return { kind: "result", result: news.result };
    if (news.kind === "found") return followed(news.status);
    if (news.kind === "noticed") {
      requests.learn();
      try {
        return followed(await wire.read(taskId));
      } catch (error) {
        // It was over and gone at once: what is left is the answer of the call.
        if (!isTaskClientError(error, "not_found")) throw error;
        return { kind: "result", result: await Promise.any(answers) };
      }
    }
    if (news.kind === "cancelled") return afterCancel(wire, taskId).then(followed);
    if (news.kind === "missing") return "again";
    if (isDuplicate(news.error)) return followed(await wire.read(taskId));
    if (!isTaskClientError(news.error, "unreachable")) throw news.error;
    return afterLoss(parts, taskId, news.error).then((status) => (status === "again" ? "again" : followed(status)));
  };
  const begin = async (): Promise<Begun> => {
    for (let sends = 1; ; sends++) {
      const lastAnswer = answers.at(-1) ?? Promise.reject(new Error("nothing was sent"));
      const round = new AbortController();
      const probing = AbortSignal.any([round.signal, over.signal]);
      const news = await Promise.race<News>([
        lastAnswer.then(
          (result): News => ({ kind: "answer", result }),
          (error: unknown): News => ({ kind: "fault", error }),
        ),
        notice.seen.then((): News => ({ kind: "noticed" })),
        cancelled.then((): News => ({ kind: "cancelled" })),
        search(parts, taskId, probing),
      ]).finally(() => round.abort());
      const outcome = await settle(news);
      if (outcome !== "again") return outcome;
      if (sends === mostSends) {
        throw new TaskClientError("outcome_unknown", `the call was lost ${mostSends} times`, { taskId });
      }
      send();
    }
  };
  const begun = begin().finally(() => {
    over.abort();
    notice.stop();
  });
  return {
    begun,
    cancel: async () => {
      // The ID of a request means something in its session only; elsewhere, and later, the task can be deleted.
      if (sent.session !== connection.session() || sent.requestId === "") return wire.cancel(taskId);
      await connection.notify("notifications/cancelled", {
        requestId: sent.requestId,
        reason: "cancelled by the caller",
        _meta: relatedMeta(taskId),
      });
      cancel();
    },
  };
};

const toParams = ({ tool, args, meta, keepAliveMs }: CallRequest, taskId: string): Members =>
  callParams(tool, args, {
    ...meta,
    "modelcontextprotocol.io/task": { taskId, ...(keepAliveMs === undefined ? {} : { keepAlive: keepAliveMs }) },
  });

const noticeOf = (connection: Connection, taskId: string): { readonly seen: Promise<void>; stop(): void } => {
  let stop = (): void => {};
  const seen = new Promise<void>((resolve) => {
    stop = connection.onNotification((method, params) => {
      const related = toMembers(toMembers(params["_meta"])["modelcontextprotocol.io/related-task"]);
      if (method === "notifications/tasks/created" && related["taskId"] === taskId) resolve();
    });
  });
  return { seen, stop: () => stop() };
};

const isDuplicate = (error: unknown): boolean =>
  isTaskClientError(error, "refused") &&
  error.rpc?.code === invalidParams &&
  /task id already exists/i.test(error.message);

/** The connection broke before the answer: whether the task is there, or may be started again. */
const afterLoss = async (
  { requests, wire }: DraftParts,
  taskId: string,
  lost: TaskClientError,
): Promise<TaskStatus | "again"> => {
  try {
    return await wire.read(taskId);
  } catch (error) {
    const isMissing = isTaskClientError(error, "not_found");
    if (isMissing && (await requests.knowsDraft())) return "again";
    if (!isMissing && !isMethodUnknown(error)) throw error;
  }
  if (lost.notSent) throw lost;
  throw new TaskClientError(
    "outcome_unknown",
    `the connection broke before the call was answered, and this server knows no task IDs, so the tool may have run: ${lost.message}`,
    { ...lost, taskId, cause: lost },
  );
};

/** Nobody answers a request that was cancelled, so the task tells, where there is one. */
const afterCancel = async (wire: DraftParts["wire"], taskId: string): Promise<TaskStatus> => {
  try {
    return await wire.read(taskId);
  } catch (error) {
    if (!isTaskClientError(error, "not_found") && !isMethodUnknown(error)) throw error;
    throw new TaskClientError("cancelled", "the call was cancelled", { taskId });
  }
};

const isMethodUnknown = (error: unknown): boolean =>
  isTaskClientError(error, "refused") && error.rpc?.code === methodNotFound;

/**
 * Looks for the task where no notice comes: after a while, and when the connection has trouble. Resolves with what it
 * found; never, where there is nothing to find out.
 */
const search = async (parts: DraftParts, taskId: string, signal: AbortSignal): Promise<News> => {
  const { connection, requests, wire, clock, noticeMs } = parts;
  let pauseMs = noticeMs;
  for (let misses = 0; ; ) {
    const trouble = new AbortController();
    const stop = connection.onTrouble(() => trouble.abort());
    try {
      await clock.sleep(pauseMs, AbortSignal.any([signal, trouble.signal]));
    } catch {
      if (signal.aborted) return never;
      misses = mostMisses;
    } finally {
      stop();
    }
    try {
      return { kind: "found", status: await wire.read(taskId, signal) };
    } catch (error) {
      if (signal.aborted) return never;
      // A server without tasks: its answer is all there will be.
      if (isMethodUnknown(error)) return never;
      if (!isTaskClientError(error, "not_found")) throw error;
      misses++;
    }
    if (misses >= mostMisses && (await requests.knowsDraft().catch(() => false))) return { kind: "missing" };
    pauseMs = Math.min(Math.max(pauseMs, 250) * 2, longestProbeMs);
  }
};

const never = new Promise<never>(() => {});

import { TaskClientError } from "../client-error.ts";
import type { Connection } from "../connection.ts";
import { toToolResult } from "../to-tool-result.ts";
import type { CallRequest, OpenCall, Wire } from "../wire.ts";
import { type Frame, unframed } from "./framing-2026.ts";
import { noTasks } from "./no-tasks.ts";
import { callInRounds } from "./send-call.ts";

/** Calls that are waited for, on servers without tasks. */
export const plainWire = (connection: Connection, frame: Frame = unframed): Wire => {
  const refuse = async (what: string): Promise<never> => {
    throw noTasks(what, "none");
  };
  return {
    name: "none",
    begin: (call) => openPlainCall(connection, call, frame),
    read: () => refuse("reading a task"),
    outcome: () => refuse("the result of a task"),
    answer: () => refuse("answering a task"),
    cancel: () => refuse("cancelling a task"),
    // biome-ignore lint/correctness/useYield: it has nothing to give
    list: async function* () {
      throw noTasks("listing tasks", "none");
    },
    watch: () => () => {},
    request: (method, params) => connection.patiently(method, frame(params)),
  };
};

/** A call whose answer is its result. Cancelling gives the request up, and tells the server. */
export const openPlainCall = (connection: Connection, call: CallRequest, frame: Frame = unframed): OpenCall => {
  const over = new AbortController();
  const answer = callInRounds(connection, call, frame, {
    signal: over.signal,
    cancels: !(connection.modern && connection.hasStreams),
  });
  return {
    begun: answer.then((result) => ({ kind: "result", result: toToolResult(result) }) as const),
    cancel: async () => over.abort(new TaskClientError("cancelled", "the call was cancelled")),
  };
};

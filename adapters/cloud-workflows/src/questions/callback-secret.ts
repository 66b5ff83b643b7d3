import { BridgeError, type ExecutionQuestion, isObject } from "@taskbridge/core/adapter";

/** What the answer to a question needs. The address is made anew from it, since that of the API may be another one by then. */
export interface CallbackSecret {
  readonly callbackId: string;
  readonly method: string;
  /** The workflow reads refusals from the body. */
  readonly declinable: boolean;
  /** In the history, the run of a step that must still go on: else it is another one that waits by now. */
  readonly entryId?: string;
}

export const toSecret = ({ callbackId, method, declinable, entryId }: CallbackSecret): string =>
  JSON.stringify({ callbackId, method, declinable, entryId });

export const parseSecret = ({ id, secret }: ExecutionQuestion): CallbackSecret => {
  const parsed: unknown = JSON.parse(secret ?? "null");
  if (isObject(parsed)) {
    const { callbackId, method, declinable, entryId } = parsed;
    if (typeof callbackId === "string" && /[^.]/.test(callbackId) && typeof method === "string")
      return {
        callbackId,
        method,
        declinable: declinable === true,
        ...(typeof entryId === "string" ? { entryId } : {}),
      };
  }
  throw new BridgeError("internal", `the callback of question ${id} is not in the store`, { notSent: true });
};

/** Requests of the other methods have no body that a workflow could read: there is nothing to say but that it may go on. */
export const hasBody = (method: string): boolean => method === "POST" || method === "PUT" || method === "PATCH";

import { BridgeError, type ExecutionQuestion } from "@taskbridge/core/adapter";
import { isObject } from "../is-object.ts";

/** What the answer to a question needs, and nobody else may see. */
export interface CallbackSecret {
  readonly callbackId: string;
  readonly url: string;
  readonly method: string;
  /** The workflow reads refusals from the body. */
  readonly declinable: boolean;
}

export const toSecret = ({ callbackId, url, method, declinable }: CallbackSecret): string =>
  JSON.stringify({ callbackId, url, method, declinable });

export const parseSecret = ({ id, secret }: ExecutionQuestion): CallbackSecret => {
  const parsed: unknown = JSON.parse(secret ?? "null");
  if (isObject(parsed)) {
    const { callbackId, url, method, declinable } = parsed;
    if (typeof callbackId === "string" && typeof url === "string" && typeof method === "string")
      return { callbackId, url, method, declinable: declinable === true };
  }
  throw new BridgeError("internal", `the callback of question ${id} is not in the store`, { notSent: true });
};

/** Requests of the other methods have no body that a workflow could read: there is nothing to say but that it may go on. */
export const hasBody = (method: string): boolean => method === "POST" || method === "PUT" || method === "PATCH";

import * as z from "zod";
import type { ClientLink } from "./client-link.ts";

/** What the servers of both SDKs have for asking and telling a client something. */
export interface SdkSender {
  request(request: { method: string; params: object }, schema: unknown, options: object): Promise<unknown>;
  notification(notification: { method: string; params: object }, options?: object): Promise<void>;
}

/** What no client waits as long for: an answer takes as long as a person needs (milliseconds). */
const maxMs = 2_147_483_647;
const anyResult = z.looseObject({});

/** The way to the client that a server of either SDK is connected to. */
export const toClientLink = (server: SdkSender): ClientLink => ({
  request: async (method, params, { on, signal }) => {
    signal.throwIfAborted();
    // SDK 1 goes on listening to a signal after the answer, and would then take the request back.
    const pending = new AbortController();
    // The client is told the reason as it is given here.
    const onAbort = (): void => pending.abort(signal.reason instanceof Error ? signal.reason.message : signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await server.request({ method, params }, anyResult, {
        signal: pending.signal,
        timeout: maxMs,
        ...(on === undefined ? {} : { relatedRequestId: on }),
      });
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  },
  notify: (method, params, on) =>
    server.notification({ method, params }, on === undefined ? {} : { relatedRequestId: on }),
});

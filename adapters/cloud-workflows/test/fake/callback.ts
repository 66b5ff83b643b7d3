import { randomUUID } from "node:crypto";
import type { CallbackMethod } from "./script.ts";

/** What came in at a callback. */
export interface Payload {
  readonly method: string;
  readonly body: string;
  readonly contentType: string;
}

/**
 * "Once the endpoint is created, a single slot is available; a request fills it until it can be processed;
 * `events.await_callback` empties it": https://cloud.google.com/workflows/docs/creating-callback-endpoints
 */
export interface Callback {
  readonly id: string;
  readonly method: CallbackMethod;
  readonly createdAt: number;
  slot: Payload | undefined;
  /** How many steps wait for it. */
  waiters: number;
}

export const createCallback = (method: CallbackMethod, createdAt: number): Callback => ({
  id: randomUUID(),
  method,
  createdAt,
  slot: undefined,
  waiters: 0,
});

/** `callback_request.http_request.body`: JSON is read where the content type says so. */
export const toBody = ({ body, contentType }: Payload): unknown => {
  if (!contentType.startsWith("application/json")) return body;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
};

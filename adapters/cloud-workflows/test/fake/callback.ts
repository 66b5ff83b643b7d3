import { randomUUID } from "node:crypto";
import type { CallbackMethod } from "./script.ts";

/** What came in at a callback. */
export interface Payload {
  readonly method: string;
  readonly body: string;
  readonly contentType: string;
}

/**
 * A callback has room for one request from its creation on; `events.await_callback` takes it and makes room for another.
 * In our words, after https://cloud.google.com/workflows/docs/creating-callback-endpoints
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

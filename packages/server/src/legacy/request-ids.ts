import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Sealer } from "../sealer.ts";
import type { RequestId } from "../session/client-link.ts";
import { type QuestionMark, readMark } from "../session/question-mark.ts";

/**
 * The IDs of requests to a client. The SDK counts from 0 in every process; outside, an ID says by itself what it asks, so that
 * a reply is understood wherever it arrives, and nobody can reply to what was not asked of this session.
 */
export interface RequestIds {
  /** A message of the SDK as it goes out. */
  toWire(message: JSONRPCMessage): JSONRPCMessage;
  /** A request that could not be sent. */
  forget(message: JSONRPCMessage): void;
  /** What a client has posted, as the SDK is to see it: a reply to what the SDK does not wait for means nothing to it. */
  fromWire(body: unknown): Posted;
}

export interface Posted {
  readonly body: unknown;
  /** Replies to questions that this process does not wait for: another has asked them, or has given them up. */
  readonly strays: readonly StrayReply[];
}

export interface StrayReply {
  readonly question: QuestionMark;
  /** The JSON-RPC response as it was sent, unchecked but for being one. */
  readonly response: Response;
}

interface Response {
  readonly id: RequestId;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** `about`: the session; an ID is good in no other. */
export const createRequestIds = (sealer: Sealer, about: string): RequestIds => {
  const waiting = new Map<string, RequestId>();
  const names = new Map<RequestId, string>();
  const subject = `request to ${about}`;

  const forgetId = (id: RequestId): void => {
    const name = names.get(id);
    names.delete(id);
    if (name !== undefined) waiting.delete(name);
  };
  const take = (message: unknown, strays: StrayReply[]): unknown => {
    if (!isResponse(message)) return message;
    const id = waiting.get(String(message.id));
    if (id !== undefined) {
      forgetId(id);
      return { ...message, id };
    }
    const kept = sealer.open(String(message.id), subject);
    if (isKept(kept) && kept.question !== undefined) strays.push({ question: kept.question, response: message });
    // The SDK would take a number for one of its own.
    return { ...message, id: `not asked here: ${message.id}` };
  };
  return {
    toWire: (message) => {
      if (!("method" in message)) return message;
      if ("id" in message) {
        const name = sealer.seal({ question: readMark(message.params) }, subject);
        waiting.set(name, message.id);
        names.set(message.id, name);
        return { ...message, id: name };
      }
      const id = message.params?.requestId as RequestId | undefined;
      if (message.method !== "notifications/cancelled" || id === undefined) return message;
      const name = names.get(id);
      forgetId(id);
      return name === undefined ? message : { ...message, params: { ...message.params, requestId: name } };
    },
    forget: (message) => {
      if ("method" in message && "id" in message) forgetId(message.id);
    },
    fromWire: (body) => {
      const strays: StrayReply[] = [];
      const taken = Array.isArray(body) ? body.map((message) => take(message, strays)) : take(body, strays);
      return { body: taken, strays };
    },
  };
};

const isResponse = (message: unknown): message is Response =>
  typeof message === "object" &&
  message !== null &&
  !("method" in message) &&
  "id" in message &&
  (typeof message.id === "string" || typeof message.id === "number");

const isKept = (kept: unknown): kept is { readonly question?: QuestionMark } =>
  typeof kept === "object" && kept !== null;

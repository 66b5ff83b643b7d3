import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { ReplicaMailbox } from "../replica-mailbox.ts";
import type { Sealer } from "../sealer.ts";
import type { RequestId } from "../session/client-link.ts";
import { type QuestionMark, readMark } from "../session/question-mark.ts";

/**
 * The IDs of requests to a client. The SDK counts from 0 in every process; outside, an ID says by itself what it asks and who,
 * so that a reply is understood wherever it arrives, and nobody can reply to what was not asked of this session.
 */
export interface RequestIds {
  /** A message of the SDK as it goes out. */
  toWire(message: JSONRPCMessage): JSONRPCMessage;
  /** A request that could not be sent. */
  forget(message: JSONRPCMessage): void;
  /** What a client has posted, as the SDK is to see it: a reply to what the SDK does not wait for means nothing to it. */
  fromWire(body: unknown): Posted;
  /** Nothing is waited for any more. */
  close(): void;
}

export interface Posted {
  readonly body: unknown;
  /** Replies to what this process does not wait for: another has asked it, or it was given up. */
  readonly strays: readonly StrayReply[];
}

export interface StrayReply {
  /** Absent: it is about no task. */
  readonly question?: QuestionMark;
  /** The address of the process that has asked. */
  readonly from: string;
  /** Epoch milliseconds by the store's clock. */
  readonly askedAt: number;
  /** The JSON-RPC response as it was sent, unchecked but for being one. */
  readonly response: WireResponse;
}

export interface WireResponse {
  readonly id: RequestId;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface RequestIdParts {
  readonly sealer: Sealer;
  readonly mailbox: Pick<ReplicaMailbox, "address" | "expect">;
  readonly storeNow: () => number;
  /** The session; an ID is good in no other. */
  readonly about: string;
  /** Gives the SDK a reply that another process has got. */
  readonly receive: (response: JSONRPCMessage) => void;
}

interface Waiting {
  readonly id: RequestId;
  readonly stop: () => void;
}

export const createRequestIds = ({ sealer, mailbox, storeNow, about, receive }: RequestIdParts): RequestIds => {
  const waiting = new Map<string, Waiting>();
  const names = new Map<RequestId, string>();
  const subject = `request to ${about}`;

  const forgetId = (id: RequestId): void => {
    const name = names.get(id);
    if (name === undefined) return;
    names.delete(id);
    waiting.get(name)?.stop();
    waiting.delete(name);
  };
  const mint = (id: RequestId, question: QuestionMark | undefined): string => {
    const name = sealer.seal({ question, from: mailbox.address, askedAt: storeNow() }, subject);
    const stop = mailbox.expect(name, (response) => {
      forgetId(id);
      receive({ ...response, id } as JSONRPCMessage);
    });
    waiting.set(name, { id, stop });
    names.set(id, name);
    return name;
  };
  const restore = (message: unknown, strays: StrayReply[]): unknown => {
    if (!isResponse(message)) return message;
    const known = waiting.get(String(message.id));
    if (known !== undefined) {
      forgetId(known.id);
      return { ...message, id: known.id };
    }
    const asked = sealer.open(String(message.id), subject);
    if (isAsked(asked)) strays.push({ ...asked, response: message });
    // The SDK would take a number for one of its own.
    return { ...message, id: `not asked here: ${message.id}` };
  };
  return {
    toWire: (message) => {
      if (!("method" in message)) return message;
      if ("id" in message) return { ...message, id: mint(message.id, readMark(message.params)) };
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
      const restored = Array.isArray(body) ? body.map((message) => restore(message, strays)) : restore(body, strays);
      return { body: restored, strays };
    },
    close: () => {
      for (const id of [...names.keys()]) forgetId(id);
    },
  };
};

const isResponse = (message: unknown): message is WireResponse =>
  typeof message === "object" &&
  message !== null &&
  !("method" in message) &&
  "id" in message &&
  (typeof message.id === "string" || typeof message.id === "number");

const isAsked = (asked: unknown): asked is Omit<StrayReply, "response"> =>
  typeof asked === "object" && asked !== null && "from" in asked && "askedAt" in asked;

import { invalidRequestCode } from "@taskbridge/protocol";
import type { Channel } from "../session/channel.ts";
import type { RequestId } from "../session/client-link.ts";
import { askedId, cancelledId, toMessages, type WireMessage } from "./posted-messages.ts";
import { type StreamShape, type StreamTap, tapStream } from "./stream-tap.ts";

/** The answers of one session that are under way, each with its stream. */
export interface RequestStreams {
  channelOf(requestId: RequestId): Channel;
  /** Passes the transport's answer to a POST on. An ID that is in use is refused before the transport hears of it. */
  answer(post: AnsweredPost, handle: () => Promise<Response>): Promise<Response>;
  /** The answer to a request was handed to its stream. */
  answered(requestId: RequestId): void;
  /** The session's own stream. */
  own(tap: StreamTap): void;
  /** Ends the session's own stream: its client has come back for another. */
  loseOwn(): void;
  isIdle(): boolean;
  /** Ends the streams of those that wait for news: the session's own, and of whoever waits for the end of a task. */
  endWaiting(): void;
}

export interface AnsweredPost {
  readonly request: Request;
  /** Parsed. */
  readonly body: unknown;
  /** Of the stream of the answer. */
  readonly shape?: StreamShape | undefined;
  /** Calls `end` when the caller is no longer verified. Returns how to call that off. */
  readonly expires: (end: () => void) => () => void;
}

interface OpenStream {
  /** Its answer may be far off. */
  readonly isWait: boolean;
  readonly closed: AbortController;
  tap: StreamTap | undefined;
  isAnswered: boolean;
}

/** These are answered at once and ask nothing, so that a client which polls is not made to read a stream. */
const plain = new Set([
  "initialize",
  "ping",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "tasks/get",
  "tasks/list",
  "tasks/cancel",
  "tasks/delete",
]);

export interface StreamRules {
  /** Ends the stream of a request when its answers so far have been read. */
  endStream(requestId: RequestId): void;
  /** Whether a request is answered by the end of a task. */
  waitsForUpdates(message: Pick<WireMessage, "method" | "params">): boolean;
}

export const createRequestStreams = ({ endStream, waitsForUpdates }: StreamRules): RequestStreams => {
  const open = new Map<RequestId, OpenStream>();
  let ownTap: StreamTap | undefined;

  /** The requests of a batch share a stream. The SDK ends it with the last answer, and waits for cancelled ones as well. */
  const endUnused = (tap: StreamTap, id: RequestId, isWithdrawn = false): void => {
    const sharing = [...open.values()].filter((stream) => stream.tap === tap);
    if (sharing.length === 0) tap.end(isWithdrawn);
    else if (sharing.every(({ isAnswered }) => isAnswered)) endStream(id);
  };
  const end = (id: RequestId, isWithdrawn = false): void => {
    const stream = open.get(id);
    open.delete(id);
    if (stream?.tap !== undefined) endUnused(stream.tap, id, isWithdrawn);
    stream?.closed.abort(new Error("the request is over"));
  };
  const begin = (messages: readonly WireMessage[]): readonly RequestId[] => {
    const ids: RequestId[] = [];
    for (const message of messages) {
      const { id, method } = message;
      if (id === undefined || method === undefined || open.has(id)) continue;
      const isWait = waitsForUpdates(message);
      open.set(id, { isWait, closed: new AbortController(), tap: undefined, isAnswered: false });
      ids.push(id);
    }
    return ids;
  };
  return {
    channelOf: (id) => {
      const stream = open.get(id);
      if (stream === undefined) return { on: id, closed: AbortSignal.abort(), isReady: () => false };
      return { on: id, closed: stream.closed.signal, isReady: () => stream.tap?.isReady() ?? true };
    },
    answer: async ({ request, body, shape, expires }, handle) => {
      const messages = toMessages(body);
      const inUse = findInUse(messages, open);
      if (inUse !== undefined) return refuseUsed(inUse);
      const ids = begin(messages);
      const response = await handle();
      // A request that is taken back gets no answer; the SDK would leave its stream open.
      for (const id of messages.flatMap(cancelledId)) end(id, true);
      if (response.body === null || !isStream(response)) {
        for (const id of ids) end(id);
        return response;
      }
      const tap = tapStream(response.body, request.signal, shape);
      for (const id of ids) {
        const stream = open.get(id);
        if (stream !== undefined) stream.tap = tap;
      }
      for (const id of ids.slice(0, 1)) endUnused(tap, id);
      if (messages.some(waitsForUpdates)) tap.closed.addEventListener("abort", expires(tap.end), { once: true });
      tap.closed.addEventListener("abort", () => {
        for (const id of ids) end(id);
      });
      const [only, ...more] = messages;
      if (more.length === 0 && plain.has(only?.method ?? "")) return toJson(response, tap);
      return new Response(tap.body, { status: response.status, headers: response.headers });
    },
    answered: (id) => {
      const stream = open.get(id);
      if (stream === undefined) return;
      stream.isAnswered = true;
      if (stream.tap !== undefined) endUnused(stream.tap, id);
    },
    own: (tap) => {
      ownTap = tap;
    },
    loseOwn: () => ownTap?.lose(),
    isIdle: () => open.size === 0,
    endWaiting: () => {
      ownTap?.end();
      for (const [id, { isWait }] of [...open]) {
        if (isWait) end(id);
      }
    },
  };
};

/** https://modelcontextprotocol.io/specification/2025-11-25/basic#requests: an ID must not have been used before. */
const findInUse = (messages: readonly WireMessage[], open: ReadonlyMap<RequestId, unknown>): RequestId | undefined => {
  const ids = messages.flatMap(askedId);
  return ids.find((id, index) => open.has(id) || ids.indexOf(id) < index);
};

const refuseUsed = (id: RequestId): Response => {
  const error = { code: invalidRequestCode, message: "Invalid Request: the id is in use" };
  return Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });
};

const isStream = (response: Response): boolean =>
  response.headers.get("content-type")?.startsWith("text/event-stream") === true;

/** The one message of a stream as a plain answer. */
const toJson = async (response: Response, tap: StreamTap): Promise<Response> => {
  const text = await new Response(tap.body).text();
  const data = text.split("\n").findLast((line) => line.startsWith("data: "));
  const headers = new Headers(response.headers);
  headers.set("content-type", "application/json");
  headers.delete("connection");
  return new Response(data?.slice(6) ?? null, { status: data === undefined ? 202 : response.status, headers });
};

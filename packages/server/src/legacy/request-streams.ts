import type { Channel } from "./channel.ts";
import type { RequestId } from "./client-link.ts";
import { type StreamTap, tapStream } from "./stream-tap.ts";

/** The answers of one session that are under way, each with its stream. */
export interface RequestStreams {
  channelOf(requestId: RequestId): Channel;
  /** Passes the transport's answer to a POST on. */
  answer(request: Request, body: unknown, handle: () => Promise<Response>): Promise<Response>;
  /** The session's own stream. */
  own(tap: StreamTap): void;
  isIdle(): boolean;
  /** Ends the streams of those that wait for news: the session's own, and of `tasks/result`. */
  endWaiting(): void;
}

interface OpenStream {
  readonly method: string;
  readonly closed: AbortController;
  tap: StreamTap | undefined;
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
]);

export const createRequestStreams = (): RequestStreams => {
  const open = new Map<RequestId, OpenStream>();
  let ownTap: StreamTap | undefined;

  const end = (id: RequestId): void => {
    const stream = open.get(id);
    open.delete(id);
    stream?.tap?.end();
    stream?.closed.abort(new Error("the request is over"));
  };
  const begin = (messages: readonly WireMessage[]): readonly RequestId[] => {
    const ids: RequestId[] = [];
    for (const { id, method } of messages) {
      if (id === undefined || method === undefined || open.has(id)) continue;
      open.set(id, { method, closed: new AbortController(), tap: undefined });
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
    answer: async (request, body, handle) => {
      const messages = toMessages(body);
      const ids = begin(messages);
      const response = await handle();
      // A request that is taken back gets no answer; the SDK would leave its stream open.
      for (const id of messages.flatMap(cancelledId)) end(id);
      if (response.body === null || !isStream(response)) {
        for (const id of ids) end(id);
        return response;
      }
      const tap = tapStream(response.body, request.signal);
      for (const id of ids) {
        const stream = open.get(id);
        if (stream === undefined) tap.end();
        else stream.tap = tap;
      }
      tap.closed.addEventListener("abort", () => {
        for (const id of ids) end(id);
      });
      const [only, ...more] = messages;
      if (more.length === 0 && plain.has(only?.method ?? "")) return toJson(response, tap);
      return new Response(tap.body, { status: response.status, headers: response.headers });
    },
    own: (tap) => {
      ownTap = tap;
    },
    isIdle: () => open.size === 0,
    endWaiting: () => {
      ownTap?.end();
      for (const [id, { method }] of [...open]) {
        if (method === "tasks/result") end(id);
      }
    },
  };
};

interface WireMessage {
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: { readonly requestId?: RequestId };
}

/** What is no message is the transport's to refuse. */
const toMessages = (body: unknown): readonly WireMessage[] =>
  [body].flat().filter((message): message is WireMessage => typeof message === "object" && message !== null);

const cancelledId = ({ method, params }: WireMessage): readonly RequestId[] =>
  method === "notifications/cancelled" && params?.requestId !== undefined ? [params.requestId] : [];

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

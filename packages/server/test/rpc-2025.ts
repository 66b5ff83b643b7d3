import type { Answer, Message } from "./rpc-client.ts";
import { inTime } from "./serve.ts";

/** A stream of messages as they come. */
export interface MessageStream {
  readonly status: number;
  readonly headers: Headers;
  /** So far. */
  readonly messages: readonly Message[];
  /** Of its events, so far. */
  readonly eventIds: readonly string[];
  /** The first message that fits, also one that came before; an error after five seconds. */
  find(isIt: (message: Message) => boolean): Promise<Message>;
  /** Resolves when the server has ended it. */
  readonly ended: Promise<void>;
  /** Leaves. */
  close(): void;
}

/** A session of a 2025 revision by hand: what goes over the wire is what a test says. */
export interface Rpc2025 {
  readonly sessionId: string;
  /** The answer to `initialize`. */
  readonly initialized: Record<string, unknown>;
  /** Sends a request and reads its answer to the end. */
  request(method: string, params?: Record<string, unknown>, options?: RequestOptions2025): Promise<Answer>;
  /** Sends a request and leaves its stream open. */
  open(method: string, params?: Record<string, unknown>, options?: RequestOptions2025): Promise<MessageStream>;
  /** Opens the session's own stream, or goes on with another one. */
  listen(lastEventId?: string): Promise<MessageStream>;
  /** Sends a notification, or the answer to a request of the server; gives the HTTP status. */
  send(message: Omit<Message, "jsonrpc">): Promise<number>;
  /** Ends the session; gives the HTTP status. */
  end(): Promise<number>;
  /** The same session at another address. */
  at(url: string): Rpc2025;
}

export interface RequestOptions2025 {
  readonly id?: string | number;
  readonly headers?: Record<string, string>;
}

export interface RpcOptions2025 {
  readonly capabilities?: Record<string, unknown>;
  /** Default: `2025-11-25`. */
  readonly revision?: string;
  readonly headers?: Record<string, string>;
}

let requests = 1_000;

/** Opens a session: `initialize`, then `notifications/initialized`. */
export const rpc2025 = async (url: string, options: RpcOptions2025 = {}): Promise<Rpc2025> => {
  const { capabilities = {}, revision = "2025-11-25", headers = {} } = options;
  const accept = "application/json, text/event-stream";
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: revision, capabilities, clientInfo };
  const first = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  const initialized = readAnswers(await first.text()).at(-1)?.result ?? {};
  const sessionId = first.headers.get("mcp-session-id") ?? "";
  const session = sessionAt(url, { sessionId, initialized, revision, headers });
  await session.send({ method: "notifications/initialized" });
  return session;
};

interface BegunSession extends Pick<Rpc2025, "sessionId" | "initialized"> {
  readonly revision: string;
  readonly headers: Record<string, string>;
}

const sessionAt = (url: string, begun: BegunSession): Rpc2025 => {
  const { sessionId, initialized, revision, headers } = begun;
  const accept = "application/json, text/event-stream";
  const common = { "mcp-session-id": sessionId, "mcp-protocol-version": revision, ...headers };

  const post = (message: object, signal?: AbortSignal, more: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { ...common, "content-type": "application/json", accept, ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      ...(signal === undefined ? {} : { signal }),
    });
  const send: Rpc2025["send"] = async (message) => {
    const response = await post(message);
    await response.text();
    return response.status;
  };
  const toMessage = (method: string, sent: Record<string, unknown>, { id = ++requests }: RequestOptions2025) => ({
    id,
    method,
    params: sent,
  });
  return {
    sessionId,
    initialized,
    request: async (method, sent = {}, more = {}) => {
      const response = await post(toMessage(method, sent, more), undefined, more.headers);
      const text = await inTime(response.text());
      const messages = readAnswers(text);
      const last = messages.at(-1);
      const missing = { code: 0, message: "there is no error" };
      return {
        status: response.status,
        headers: response.headers,
        messages,
        result: last?.result ?? {},
        error: last?.error ?? missing,
      };
    },
    open: async (method, sent = {}, more = {}) => {
      const leaving = new AbortController();
      return readStream(await post(toMessage(method, sent, more), leaving.signal, more.headers), leaving);
    },
    listen: async (lastEventId) => {
      const leaving = new AbortController();
      const last = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
      const sent = { ...common, ...last, accept: "text/event-stream" };
      return readStream(await fetch(url, { headers: sent, signal: leaving.signal }), leaving);
    },
    send,
    end: async () => (await fetch(url, { method: "DELETE", headers: common })).status,
    at: (other) => sessionAt(other, begun),
  };
};

/** Servers may answer with a stream or without. */
const readAnswers = (text: string): readonly Message[] =>
  text.startsWith("{") ? [JSON.parse(text) as Message] : toMessages(text);

const toMessages = (text: string): readonly Message[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as Message);

const readStream = (response: Response, leaving: AbortController): MessageStream => {
  const messages: Message[] = [];
  const eventIds: string[] = [];
  let wake: () => void = () => {};
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let text = "";
    try {
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        const frames = text.split("\n\n");
        text = frames.pop() ?? "";
        for (const frame of frames) {
          messages.push(...toMessages(frame));
          eventIds.push(...frame.split("\n").flatMap((line) => (line.startsWith("id: ") ? [line.slice(4)] : [])));
        }
        wake();
      }
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    }
  };
  const find = async (isIt: (message: Message) => boolean): Promise<Message> => {
    for (;;) {
      const change = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const found = messages.find(isIt);
      if (found !== undefined) return found;
      await change;
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    messages,
    eventIds,
    find: (isIt) => inTime(find(isIt)),
    ended: read(),
    close: () => leaving.abort(),
  };
};

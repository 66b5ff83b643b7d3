import type { Message } from "../rpc-client.ts";
import type { Conversation, Reply } from "./conversation.ts";

/** A client of the 2025 revisions. */
export interface Client20251125 {
  /** Opens a session: `initialize`, then `notifications/initialized`. */
  connect(options?: ConnectOptions): Promise<Session20251125>;
  /** Anything over HTTP, outside of sessions unless a header names one. */
  exchange(said: Said): Promise<Reply>;
}

export interface Session20251125 {
  /** Sends a request and reads its answer to the end: the message with the result or error. */
  request(method: string, params?: Params, headers?: Headers): Promise<Message>;
  /** A request whose answer is read message by message. */
  open(method: string, params?: Params): Promise<Reply>;
  /** The session's own stream. */
  listen(): Promise<Reply>;
  /** A notification, or the answer to a request of the server. */
  notify(message: Omit<Message, "jsonrpc">): Promise<void>;
  /** Ends the session. */
  end(): Promise<void>;
}

export interface ConnectOptions {
  /** Default: forms. */
  readonly capabilities?: Readonly<Record<string, unknown>>;
  /** Default: `2025-11-25`. */
  readonly revision?: string;
}

export interface Said {
  /** Default: `POST`. */
  readonly http?: string;
  readonly message?: Omit<Message, "jsonrpc">;
  /** Beside those that every client sends; undefined takes one of them out. */
  readonly headers?: Headers;
}

type Params = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string | undefined>>;

export const client20251125 = (conversation: Conversation, url: string): Client20251125 => {
  let count = 0;

  const exchange: Client20251125["exchange"] = ({ http, message, headers = {} }) => {
    const reported = Object.entries(headers).map(([name, value]) => [name, value ?? null] as const);
    const text = message === undefined ? undefined : JSON.stringify({ jsonrpc: "2.0", ...message });
    const sent = Object.entries({ ...commonHeaders(http), ...headers });
    return conversation.exchange(
      {
        ...(http === undefined ? {} : { http }),
        ...(reported.length === 0 ? {} : { headers: Object.fromEntries(reported) }),
        ...(text === undefined ? {} : { text }),
      },
      (signal) =>
        fetch(url, {
          method: http ?? "POST",
          headers: sent.filter((entry): entry is [string, string] => entry[1] !== undefined),
          ...(text === undefined ? {} : { body: text }),
          signal,
        }),
    );
  };
  const openSession = (id: string): Session20251125 => {
    const session = { "mcp-session-id": id };
    const open = (method: string, params: Params = {}, headers: Headers = {}): Promise<Reply> =>
      exchange({ message: { id: ++count, method, params }, headers: { ...session, ...headers } });
    return {
      open,
      request: async (method, params, headers) => toAnswer(method, await open(method, params, headers)),
      listen: () => exchange({ http: "GET", headers: session }),
      notify: async (message) => void (await (await exchange({ message, headers: session })).rest()),
      end: async () => void (await (await exchange({ http: "DELETE", headers: session })).rest()),
    };
  };
  return {
    exchange,
    connect: async ({ capabilities = { elicitation: {} }, revision = "2025-11-25" } = {}) => {
      const params = { protocolVersion: revision, capabilities, clientInfo: { name: "test", version: "1" } };
      const reply = await exchange({ message: { id: ++count, method: "initialize", params } });
      await toAnswer("initialize", reply);
      const session = openSession(reply.headers.get("mcp-session-id") ?? "none");
      await session.notify({ method: "notifications/initialized" });
      return session;
    },
  };
};

const commonHeaders = (http: string | undefined): Readonly<Record<string, string>> => ({
  ...(http === undefined ? { "content-type": "application/json" } : {}),
  accept: http === "GET" ? "text/event-stream" : "application/json, text/event-stream",
  "mcp-protocol-version": "2025-11-25",
});

const toAnswer = async (method: string, reply: Reply): Promise<Message> => {
  const answer = (await reply.rest()).at(-1);
  if (answer === undefined) throw new Error(`${method} was not answered`);
  return answer;
};

/** The ID of the task that a call of `name` has become. */
export const callAsTask = async (
  { request }: Pick<Session20251125, "request">,
  name = "job",
  args: Params = {},
  task: Params = {},
  more: Params = {},
): Promise<string> => {
  const { result } = await request("tools/call", { name, arguments: args, task, ...more });
  const created = result?.task as { readonly taskId?: unknown } | undefined;
  if (typeof created?.taskId !== "string") throw new Error(`no task: ${JSON.stringify(result)}`);
  return created.taskId;
};

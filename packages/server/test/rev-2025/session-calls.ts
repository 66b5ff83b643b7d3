import type { Message } from "../rpc-client.ts";

export interface SentRequest {
  readonly method?: "POST" | "GET" | "DELETE" | "PUT";
  readonly headers?: Record<string, string>;
  /** Text goes out as it is. */
  readonly body?: unknown;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON-RPC error, where there is one. */
  readonly error: { readonly code?: number; readonly message?: string };
}

export const accept = "application/json, text/event-stream";

/** One HTTP request of a client of a 2025 revision, with nothing but what is given. */
export const send = async (
  url: string,
  { method = "POST", headers = {}, body }: SentRequest = {},
): Promise<RawAnswer> => {
  const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
  const json = method === "POST" ? { "content-type": "application/json" } : {};
  const response = await fetch(url, { method, headers: { accept, ...json, ...headers }, ...sent });
  const text = await response.text();
  const { error = {} } = text.startsWith("{") ? (JSON.parse(text) as Message) : {};
  return { status: response.status, headers: response.headers, text, error };
};

export const initialize: object = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** Opens a session; the ID that it got, empty if it was refused. */
export const openSession = async (url: string, headers: Record<string, string> = {}): Promise<string> =>
  (await send(url, { body: initialize, headers })).headers.get("mcp-session-id") ?? "";

export const ping: object = { jsonrpc: "2.0", id: 1, method: "ping" };

/** The status of a request in a session. */
export const statusOf = async (url: string, sessionId: string, headers: Record<string, string> = {}): Promise<number> =>
  (await send(url, { body: ping, headers: { "mcp-session-id": sessionId, ...headers } })).status;

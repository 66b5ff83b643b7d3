import { randomUUID } from "node:crypto";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport as PairV1 } from "@modelcontextprotocol/sdk/inMemory.js";
import {
  type AuthInfo,
  InMemoryTransport,
  type JSONRPCMessage,
  type McpServerFactory,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type Message, type RequestOptions, toRequest } from "../rpc-client.ts";
import { eventually, inTime } from "../serve.ts";

export type Fetch = (request: Request, options?: { readonly authInfo?: AuthInfo }) => Promise<Response>;

/** Sends a request of 2026-07-28 and gives everything that comes back, the answer last. */
export type Call2026 = (
  method: string,
  params?: Record<string, unknown>,
  options?: RequestOptions,
) => Promise<readonly Message[]>;

const accept = "application/json, text/event-stream";

export const postTo = (
  fetch: Fetch,
  method: string,
  params: Record<string, unknown> = {},
  options: RequestOptions & { readonly authInfo?: AuthInfo } = {},
): Promise<Response> => {
  const name = params.name ?? params.taskId ?? params.uri;
  const headers = {
    "content-type": "application/json",
    accept,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
    ...options.headers,
  };
  const request = new Request("http://localhost/mcp", {
    method: "POST",
    headers: Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
    body: JSON.stringify(toRequest(method, params, { id: 1, ...options })),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  return fetch(request, options.authInfo === undefined ? {} : { authInfo: options.authInfo });
};

export const callByFetch =
  (fetch: Fetch, authInfo?: AuthInfo): Call2026 =>
  async (method, params, options) => {
    const response = await postTo(fetch, method, params, {
      ...options,
      ...(authInfo === undefined ? {} : { authInfo }),
    });
    return toMessages(await inTime(response.text()));
  };

const toMessages = (text: string): readonly Message[] => {
  if (text.startsWith("{")) return [JSON.parse(text) as Message];
  const lines = text.split("\n").filter((line) => line.startsWith("data: "));
  return lines.map((line) => JSON.parse(line.slice(6)) as Message);
};

export interface StdioEnd {
  readonly call: Call2026;
  readonly received: readonly Message[];
  send(message: object): Promise<void>;
  close(): Promise<void>;
}

/** The client's end of a pipe that an SDK 2 host serves. `wrap`: what the host puts around its end. */
export const openPipe = async (
  factory: McpServerFactory,
  wrap: (transport: Transport) => Transport = (transport) => transport,
): Promise<StdioEnd> => {
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  const received: Message[] = [];
  mine.onmessage = (message) => void received.push(message as unknown as Message);
  await mine.start();
  const handle = serveStdio(factory, { transport: wrap(theirs) });
  const send = (message: object): Promise<void> => mine.send(message as JSONRPCMessage);
  let calls = 0;
  return {
    received,
    send,
    call: async (method, params, options) => {
      const message = toRequest(method, params, { id: `call-${++calls}`, ...options });
      const from = received.length;
      await send(message);
      const isAnswer = ({ id, method: isRequest }: Message) => id === message.id && isRequest === undefined;
      await eventually(() => received.slice(from).some(isAnswer));
      return received.slice(from);
    },
    close: async () => {
      await handle.close();
    },
  };
};

/** A client of SDK 1 at the end of such a pipe. */
export const connectPipe = async (factory: McpServerFactory, client: Client): Promise<() => Promise<void>> => {
  const [mine, theirs] = PairV1.createLinkedPair();
  const handle = serveStdio(factory, { transport: theirs as unknown as Transport });
  await client.connect(mine);
  return () => handle.close();
};

/** A client of SDK 1 against a web-standard handler. */
export const connectFetch = async (handle: Fetch, client: Client, authInfo?: AuthInfo): Promise<void> => {
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await handle(new Request(url, init), authInfo === undefined ? {} : { authInfo });
    if (response.body === null || !init?.signal) return response;
    // Whoever gives a request up cuts the connection, which ends the answer at the other end as well.
    const body = response.body.pipeThrough(new TransformStream(), { signal: init.signal });
    return new Response(body, { status: response.status, headers: response.headers });
  };
  await client.connect(new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch }) as never);
};

/** Serves an SDK 2 host to clients of earlier revisions in sessions, a server for each. */
export const serveSessionsV2 = (makeHost: () => { connect(transport: Transport): Promise<void> }): Fetch => {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return async (request, options = {}) => {
    const known = sessions.get(request.headers.get("mcp-session-id") ?? "");
    if (known !== undefined) return known.handleRequest(request, options);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await makeHost().connect(transport);
    return transport.handleRequest(request, options);
  };
};

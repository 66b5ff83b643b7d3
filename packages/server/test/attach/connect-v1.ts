import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { AuthInfo } from "@modelcontextprotocol/sdk/server/auth/types.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { ClientCapabilities } from "@modelcontextprotocol/sdk/types.js";

type Connectable = { connect(transport: never): Promise<void>; close(): Promise<void> };
type MakeHost = () => Connectable;

const open: (() => unknown)[] = [];

/** For `afterEach`: hangs everything up. */
export const hangUp = async (): Promise<void> => {
  for (const close of open.splice(0).reverse()) await close();
};

export const createClient = (capabilities: ClientCapabilities = {}): Client => {
  const client = new Client({ name: "client", version: "1" }, { capabilities });
  open.push(() => client.close());
  return client;
};

export const connectLinked = async (host: Connectable, client: Client): Promise<void> => {
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  await host.connect(theirs as never);
  await client.connect(mine);
};

/** A real process, with pipelines or without. */
export const connectStdio = async (isAttached: boolean, client: Client): Promise<void> => {
  const script = fileURLToPath(new URL("./stdio-host-v1.mjs", import.meta.url));
  const env = { PATH: process.env.PATH ?? "", ATTACH: isAttached ? "1" : "0" };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [script], env, stderr: "inherit" }));
};

export const connectHttp = async (url: URL, client: Client, token?: string): Promise<void> => {
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never);
};

/** Serves a host over Streamable HTTP as its documentation shows it: a server and a transport for each session. */
export const serveSessions = async (makeHost: MakeHost): Promise<URL> => {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return listen(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    const body = await readBody(request);
    if (known !== undefined) return known.handleRequest(verified(request), response, body);
    if (id !== undefined) return response.writeHead(404).end();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => void sessions.set(sessionId, transport),
    });
    transport.onclose = () => void sessions.delete(transport.sessionId ?? "");
    await makeHost().connect(transport as never);
    return transport.handleRequest(verified(request), response, body);
  });
};

/** The same without sessions: a server for each request. */
export const serveStateless = (makeHost: MakeHost): Promise<URL> =>
  listen(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const host = makeHost();
    const transport = new StreamableHTTPServerTransport({});
    response.on("close", () => {
      void transport.close();
      void host.close();
    });
    await host.connect(transport as never);
    return transport.handleRequest(verified(request), response, await readBody(request));
  });

const listen = async (
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
): Promise<URL> => {
  const server: Server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
};

const readBody = async (request: IncomingMessage): Promise<unknown> =>
  request.method === "POST" ? JSON.parse(await text(request)) : undefined;

/** Stands in for a host's own middleware, which has verified the caller that its token names. */
const verified = (request: IncomingMessage): IncomingMessage & { auth?: AuthInfo } => {
  const subject = request.headers.authorization?.replace("Bearer ", "");
  if (subject === undefined) return request;
  return Object.assign(request, { auth: { token: "t", clientId: "app", scopes: [], extra: { sub: subject } } });
};

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

export interface SessionServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Streamable HTTP with sessions, on loopback: each client that initializes gets an MCP server of its own. */
export const serveSessions = async (createMcpServer: () => McpServer, port: number): Promise<SessionServer> => {
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!isLocal(request)) return refuse(response, 403, -32_000, "This server is for its own host");
    if (request.url !== "/mcp") return refuse(response, 404, -32_000, "There is only /mcp");
    const sessionId = request.headers["mcp-session-id"];
    if (sessionId === undefined) return openSession(request, response);
    const transport = sessions.get(String(sessionId));
    if (transport === undefined) return refuse(response, 404, -32_001, "Session not found");
    await transport.handleRequest(request, response);
  };

  const openSession = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => {
        sessions.set(sessionId, transport);
      },
    });
    transport.onclose = () => sessions.delete(transport.sessionId ?? "");
    await createMcpServer().connect(transport as Transport);
    await transport.handleRequest(request, response);
    // Whatever was no initialize request has been refused by the transport.
    if (transport.sessionId === undefined) await transport.close();
  };

  const http = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error(error);
      if (response.headersSent) response.destroy();
      else refuse(response, 500, -32_603, "Internal server error");
    });
  });
  http.listen(port, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: async () => {
      http.close();
      await Promise.all([...sessions.values()].map((transport) => transport.close()));
      http.closeAllConnections();
    },
  };
};

/** A page of another site could otherwise reach us under a name of its own (DNS rebinding). */
const isLocal = ({ headers }: IncomingMessage): boolean => /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(headers.host ?? "");

const refuse = (response: ServerResponse, status: number, code: number, message: string): void => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }));
};

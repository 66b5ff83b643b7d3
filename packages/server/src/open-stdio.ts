import type { Server, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio as serveConnection } from "@modelcontextprotocol/server/stdio";
import { localOwner } from "@taskbridge/core";
import type { ListenContext } from "./listen/open-subscription.ts";
import { withTaskListen } from "./listen/stdio-listen.ts";
import type { ServeContext } from "./mcp/serve-context.ts";
import { createServer2025 } from "./rev-2025/server-2025.ts";
import { createServerFactory } from "./rev-2026-07-28/server-factory.ts";

export interface StdioConnection {
  /** Resolves when the connection has ended, whoever ended it. */
  readonly ended: Promise<void>;
  /** Ends subscriptions, saying so, then the connection. */
  close(): Promise<void>;
}

/** Serves one client on stdin and stdout, or on another transport. Whoever is at the other end owns everything here. */
export const openStdio = (
  context: ListenContext,
  transport: Transport = new StdioServerTransport(),
): StdioConnection => {
  const { log } = context.serve;
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const listening = withTaskListen(transport, context, localOwner, end);
  const modern = createServerFactory(context.serve, "stdio", "local");
  const factory: typeof modern = (connection) =>
    connection.era === "modern" ? modern(connection) : open2025(context.serve);
  const handle = serveConnection(factory, {
    transport: listening,
    onerror: (error) => log.debug({ err: error }, "a message could not be served"),
  });
  return {
    ended,
    close: async () => {
      await handle.close();
      end();
    },
  };
};

/** The SDK for connections connects what it is given, and asks no more of it than what the earlier SDK has as well. */
const open2025 = (serve: ServeContext): Server =>
  createServer2025(serve, { owner: localOwner, transport: "stdio" }).server as unknown as Server;

import type { Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio as serveConnection } from "@modelcontextprotocol/server/stdio";
import { localOwner } from "@taskbridge/core";
import type { ListenContext } from "./listen/open-subscription.ts";
import { withTaskListen } from "./listen/stdio-listen.ts";
import { createServerFactory } from "./mcp/server-factory.ts";

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
  const handle = serveConnection(createServerFactory(context.serve, "stdio", "local"), {
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

import type { ServerOptions } from "@modelcontextprotocol/sdk/server/index.js";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";

/** JavaScript, because a process of its own serves it as well. */
const shared = await import(new URL("./host-v1.mjs", import.meta.url).href);

/** An SDK 1 server with everything that it can have. */
export const createHostV1: (options?: ServerOptions) => McpServer = shared.createHostV1;

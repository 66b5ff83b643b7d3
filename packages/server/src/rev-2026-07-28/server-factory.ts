import { McpServer, type McpServerFactory } from "@modelcontextprotocol/server";
import { declaredExtension } from "@taskbridge/protocol/tasks-2026-07-28";
import * as z from "zod";
import { type OwnerPolicy, readOwner } from "../caller.ts";
import { listResources, listResourceTemplates, readResult } from "../mcp/result-resource.ts";
import type { Connection, ServeContext } from "../mcp/serve-context.ts";
import { trackCall } from "../mcp/track-call.ts";
import { unknownTool } from "../mcp/unknown-tool.ts";
import { findTool, listTools } from "../mcp/visible-tools.ts";
import { keepTaskResultsFlat } from "./keep-task-results-flat.ts";
import { toCaller } from "./request-2026.ts";
import { callTool2026, serveTask2026, taskMethods2026 } from "./serve-2026.ts";

/** Checked in the handler, so that the capability is asked for before the parameters. */
const anyParams = z.looseObject({});

/** An MCP server whose tools are the catalog's. The SDK compares `Mcp-Param-*` headers with the schemas it is given here. */
class CatalogServer extends McpServer {
  readonly #context: ServeContext;

  constructor(context: ServeContext, ...options: ConstructorParameters<typeof McpServer>) {
    super(...options);
    this.#context = context;
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.#context.catalog.inputSchema(name);
  }
}

/**
 * Makes the server for one HTTP request or one stdio connection of 2026-07-28. Called for every poll, so it holds nothing
 * and works out nothing.
 */
export const createServerFactory =
  (context: ServeContext, transport: Connection["transport"], policy: OwnerPolicy): McpServerFactory =>
  ({ authInfo }) => {
    const connection: Connection = { era: "modern", transport, owner: readOwner(authInfo, policy) };
    const tasks = context.wires.has("2026-07-28");
    const mcp = new CatalogServer(context, context.identity, {
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: false, subscribe: false },
        ...(tasks ? { extensions: { ...declaredExtension } } : {}),
      },
      ...(context.instructions === undefined ? {} : { instructions: context.instructions }),
      requestState: { verify: context.stateCodec.verify },
    });
    keepTaskResultsFlat(mcp.server);
    serveTools(context, connection, mcp);
    serveResults(context, connection, mcp);
    if (tasks) serveTaskMethods(context, connection, mcp);
    return mcp;
  };

const serveTools = (context: ServeContext, connection: Connection, { server }: McpServer): void => {
  server.setRequestHandler("tools/list", (_list, request) => ({
    tools: [...listTools(context, toCaller(connection, request))],
  }));
  server.setRequestHandler("tools/call", async ({ params }, request) => {
    const found = findTool(context, toCaller(connection, request), params.name);
    if (found === undefined) throw unknownTool(params.name);
    return callTool2026(context, connection, found, params.arguments, request) as never;
  });
};

const serveResults = (context: ServeContext, connection: Connection, { server }: McpServer): void => {
  server.setRequestHandler("resources/list", listResources);
  server.setRequestHandler("resources/templates/list", listResourceTemplates);
  server.setRequestHandler(
    "resources/read",
    ({ params }) => trackCall(context, readResult(context, connection, params.uri)) as never,
  );
};

const serveTaskMethods = (context: ServeContext, connection: Connection, { server }: McpServer): void => {
  for (const method of taskMethods2026) {
    server.setRequestHandler(method, { params: anyParams }, (params, request) =>
      serveTask2026(context, connection, method, params, request),
    );
  }
};

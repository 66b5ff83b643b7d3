import type { AuthInfo, McpHandlerRequestOptions, McpHttpHandler, Transport } from "@modelcontextprotocol/server";
import { BridgeError, localOwner } from "@taskbridge/core";
import { readOwner } from "../caller.ts";
import { createHttpListen } from "../listen/http-listen.ts";
import { withTaskListen } from "../listen/stdio-listen.ts";
import { internalsOf } from "../task-server-internals.ts";
import type { TaskServer } from "../task-server-options.ts";
import type { AttachOptions } from "./attach-tasks.ts";
import { endWithStdin } from "./end-with-stdin.ts";

/** What of `createMcpHandler`'s handler is wrapped. */
export type StreamableHandler = Pick<McpHttpHandler, "fetch">;

interface WithTaskStreams {
  <Handler extends StreamableHandler>(handler: Handler, tasks: TaskServer, options?: AttachOptions): Handler;
  (transport: Transport, tasks: TaskServer): Transport;
}

/**
 * Lets clients of 2026-07-28 subscribe to tasks, which an MCP server alone has no way to offer: wraps what
 * `createMcpHandler` returns, or the transport that `serveStdio` is given. Everything else passes through.
 */
export const withTaskStreams: WithTaskStreams = ((
  target: StreamableHandler | Transport,
  tasks: TaskServer,
  options: AttachOptions = {},
): StreamableHandler | Transport => {
  const context = internalsOf(tasks, "withTaskStreams");
  if (isHandler(target)) {
    const listen = createHttpListen(context, target.fetch);
    const ownerOf = (authInfo: AuthInfo | undefined) =>
      readOwner(authInfo, options.owners ?? context.serve.owners ?? "none");
    return {
      ...target,
      fetch: (request: Request, fetchOptions?: McpHandlerRequestOptions) =>
        listen.fetch(request, ownerOf(fetchOptions?.authInfo), fetchOptions),
    };
  }
  if (isTransport(target)) {
    endWithStdin(target, context);
    return withTaskListen(target, context, localOwner, () => {});
  }
  throw new BridgeError("misconfigured", "withTaskStreams: a handler of createMcpHandler() or a transport is needed", {
    data: { path: "target" },
  });
}) as WithTaskStreams;

const isHandler = (target: unknown): target is StreamableHandler => hasMethods(target, ["fetch"]);

const isTransport = (target: unknown): target is Transport => hasMethods(target, ["start", "send", "close"]);

const hasMethods = (target: unknown, names: readonly string[]): boolean =>
  typeof target === "object" &&
  target !== null &&
  names.every((name) => typeof (target as Readonly<Record<string, unknown>>)[name] === "function");

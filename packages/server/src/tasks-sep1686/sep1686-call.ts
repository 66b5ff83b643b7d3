import type { ResolvedTool } from "@taskbridge/core";
import type { TaskParams } from "@taskbridge/protocol/tasks-sep1686";
import type { CallLifetime } from "../mcp/call-lifetime.ts";
import type { CallRequest } from "../mcp/call-request.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { Request2025 } from "../session/request-2025.ts";

/** A `tools/call` that becomes a task under its client's ID. */
export interface Sep1686Call {
  readonly context: ServeContext;
  readonly tool: ResolvedTool;
  readonly request: Request2025;
  readonly call: CallRequest;
  readonly task: TaskParams;
  readonly lifetime: CallLifetime;
}

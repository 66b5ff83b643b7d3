import type { ResolvedTool } from "@taskbridge/core";
import type { TaskParams } from "@taskbridge/protocol/sep-1686";
import type { CallLifetime } from "../mcp/call-lifetime.ts";
import type { CallRequest } from "../mcp/call-request.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { LegacyRequest } from "../session/legacy-request.ts";

/** A `tools/call` that becomes a task under its client's ID. */
export interface DraftCall {
  readonly context: ServeContext;
  readonly tool: ResolvedTool;
  readonly request: LegacyRequest;
  readonly call: CallRequest;
  readonly task: TaskParams;
  readonly lifetime: CallLifetime;
}

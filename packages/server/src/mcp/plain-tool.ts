import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject } from "@taskbridge/core";

/** An ordinary tool beside the pipelines: it answers itself and is never a task. */
export interface PlainTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** JSON Schema of the arguments; what does not fit is refused before `call`. */
  readonly inputSchema: JsonObject;
  /** JSON Schema of `structuredContent`. */
  readonly outputSchema?: JsonObject;
  /** MCP tool annotations, handed through. */
  readonly annotations?: JsonObject;
  /** An error that is thrown becomes an `isError` result with its message; a `ProtocolError` stays one. */
  call(args: JsonObject, context: PlainToolContext): PlainToolResult | Promise<PlainToolResult>;
}

export type PlainToolResult = CallToolResult | InputRequiredResult;

/** Belongs to one call: not to be used after it. */
export interface PlainToolContext {
  /** Null: a server without owners. */
  readonly owner: string | null;
  /** Fires when the caller is gone. */
  readonly signal: AbortSignal;
  /** Sends progress, if the caller asked for it. `done` must rise with each call. */
  reportProgress(done: number, total?: number, message?: string): Promise<void>;
  /**
   * What the client answered to the `inputRequests` of the `InputRequiredResult` before, by their keys. Undefined in the
   * first round.
   */
  readonly inputResponses: Readonly<Record<string, unknown>> | undefined;
  /** The payload of the `requestState` that came back; undefined in the first round. */
  readState(): JsonObject | undefined;
  /** Makes a `requestState` for an `InputRequiredResult`, bound to this caller; it is signed, not encrypted. */
  mintState(payload: JsonObject): Promise<string>;
  /** The MCP SDK's own context of the request. Undefined for clients of revisions before 2026-07-28. */
  readonly mcp: ServerContext | undefined;
}

import { ProtocolError, type ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject } from "@taskbridge/core";
import { toErrorResult } from "@taskbridge/protocol";
import { readProgressToken } from "@taskbridge/protocol/untasked";
import type { PlainToolContext, PlainToolResult } from "./plain-tool.ts";
import type { Caller, ServeContext } from "./serve-context.ts";
import type { CatalogTool } from "./tool-catalog.ts";

/** Answers `tools/call` for an ordinary tool. */
export const callPlainTool = async (
  { tool, checkInput }: Extract<CatalogTool, { kind: "plain" }>,
  args: unknown,
  context: PlainToolContext,
): Promise<PlainToolResult> => {
  const input = args ?? {};
  const fault = checkInput(input);
  if (fault !== undefined) return { ...toErrorResult(`arguments: ${fault}`) } as PlainToolResult;
  try {
    return await tool.call(input as JsonObject, context);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return { ...toErrorResult(error instanceof Error ? error.message : String(error)) } as PlainToolResult;
  }
};

/** On 2026-07-28: questions and their answers travel with the requests. */
export const toPlainContext = (
  context: ServeContext,
  { owner }: Pick<Caller, "owner">,
  request: ServerContext,
): PlainToolContext => ({
  owner,
  signal: request.mcpReq.signal,
  reportProgress: progressReporter(readProgressToken(request.mcpReq._meta?.progressToken), (params) =>
    request.mcpReq.notify({ method: "notifications/progress", params }),
  ),
  inputResponses: request.mcpReq.inputResponses,
  readState: () => request.mcpReq.requestState<JsonObject>(),
  mintState: (payload) => context.stateCodec.mint(payload, request),
  mcp: request,
});

interface Progress extends Record<string, unknown> {
  readonly progressToken: string | number;
  readonly progress: number;
}

export const progressReporter =
  (
    progressToken: string | number | undefined,
    send: (params: Progress) => Promise<void>,
  ): PlainToolContext["reportProgress"] =>
  async (progress, total, message) => {
    if (progressToken === undefined) return;
    await send({
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
  };

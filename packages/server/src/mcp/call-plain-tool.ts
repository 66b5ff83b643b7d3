import { ProtocolError, type ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject } from "@taskbridge/core";
import { toErrorResult } from "@taskbridge/protocol";
import { type ProgressParams, progressMethod, readProgressToken } from "@taskbridge/protocol/no-tasks";
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
  reportProgress: progressReporter(readProgressToken(request.mcpReq._meta), (params) =>
    request.mcpReq.notify({ method: progressMethod, params: { ...params } }),
  ),
  inputResponses: request.mcpReq.inputResponses,
  readState: () => request.mcpReq.requestState<JsonObject>(),
  mintState: (payload) => context.stateCodec.mint(payload, request),
  mcp: request,
});

/** What a tool reports its progress by: `send` tells the caller, if that has given a token. */
export const progressReporter =
  (
    progressToken: string | number | undefined,
    send: (params: ProgressParams) => Promise<void>,
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

import { ProtocolError, type Result, type ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject } from "@taskbridge/core";
import { toErrorResult } from "@taskbridge/protocol";
import { readProgressToken } from "@taskbridge/protocol/untasked";
import type { PlainToolContext } from "./plain-tool.ts";
import type { Caller, ServeContext } from "./serve-context.ts";
import type { CatalogTool } from "./tool-catalog.ts";

/** Answers `tools/call` for an ordinary tool. */
export const callPlainTool = async (
  context: ServeContext,
  caller: Caller,
  { tool, checkInput }: Extract<CatalogTool, { kind: "plain" }>,
  args: unknown,
  request: ServerContext,
): Promise<Result> => {
  const input = args ?? {};
  const fault = checkInput(input);
  if (fault !== undefined) return { ...toErrorResult(`arguments: ${fault}`) };
  try {
    return await tool.call(input as JsonObject, toPlainContext(context, caller, request));
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return { ...toErrorResult(error instanceof Error ? error.message : String(error)) };
  }
};

const toPlainContext = (context: ServeContext, caller: Caller, request: ServerContext): PlainToolContext => {
  const progressToken = readProgressToken(request.mcpReq._meta?.progressToken);
  return {
    owner: caller.owner,
    signal: request.mcpReq.signal,
    reportProgress: async (progress, total, message) => {
      if (progressToken === undefined) return;
      const params = {
        progressToken,
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      };
      await request.mcpReq.notify({ method: "notifications/progress", params });
    },
    mintState: (payload) => context.stateCodec.mint(payload, request),
    mcp: request,
  };
};

import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import type { JsonObject } from "@taskbridge/core";
import { readProgressToken } from "@taskbridge/protocol/untasked";
import { callPlainTool, progressReporter } from "../mcp/call-plain-tool.ts";
import type { PlainToolContext } from "../mcp/plain-tool.ts";
import type { CatalogTool } from "../mcp/tool-catalog.ts";
import type { LegacyRequest } from "./legacy-request.ts";

/** A tool that has asked this often will not come to an end. */
const maxRounds = 20;

/**
 * Answers `tools/call` for an ordinary tool. What it asks by an `InputRequiredResult` goes to the client as requests of
 * their own, which is how these revisions ask, and the tool is called again with what came back.
 */
export const callPlain = async (
  request: LegacyRequest,
  found: Extract<CatalogTool, { kind: "plain" }>,
): Promise<Result> => {
  let inputResponses: Readonly<Record<string, unknown>> | undefined;
  let state: JsonObject | undefined;
  for (let round = 0; round <= maxRounds; round++) {
    const context = toContext(request, inputResponses, state);
    const result: Result & { readonly inputRequests?: unknown; readonly requestState?: unknown } = await callPlainTool(
      found,
      request.params.arguments,
      context,
    );
    if (result.resultType !== "input_required") return result;
    inputResponses = await askAll(request, (result.inputRequests ?? {}) as InputRequests);
    state = typeof result.requestState === "string" ? (JSON.parse(result.requestState) as JsonObject) : undefined;
  }
  throw new ProtocolError(-32_603, `${found.tool.name} has asked ${maxRounds} times without coming to an end.`);
};

type InputRequests = Readonly<Record<string, { readonly method: string; readonly params?: object }>>;

const askAll = async (
  { session, id, signal }: LegacyRequest,
  requests: InputRequests,
): Promise<Readonly<Record<string, unknown>>> => {
  const over = AbortSignal.any([signal, session.channelOf(id).closed]);
  const asked = Object.entries(requests).map(
    async ([key, { method, params = {} }]) =>
      [key, await session.link.request(method, params, { on: id, signal: over })] as const,
  );
  return Object.fromEntries(await Promise.all(asked));
};

/** The state stays in this process, so it needs no signature. */
const toContext = (
  { session, id, owner, params, signal }: LegacyRequest,
  inputResponses: Readonly<Record<string, unknown>> | undefined,
  state: JsonObject | undefined,
): PlainToolContext => {
  const meta = params._meta as Readonly<Record<string, unknown>> | undefined;
  return {
    owner,
    signal,
    reportProgress: progressReporter(readProgressToken(meta?.progressToken), (progress) =>
      session.link.notify("notifications/progress", progress, id),
    ),
    inputResponses,
    readState: () => state,
    mintState: async (payload) => JSON.stringify(payload),
    mcp: undefined,
  };
};

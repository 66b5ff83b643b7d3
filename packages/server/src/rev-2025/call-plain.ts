import { type InputRequest, isInputRequiredResult, ProtocolError, type Result } from "@modelcontextprotocol/server";
import type { JsonObject } from "@taskbridge/core";
import { internalErrorCode, toErrorResult } from "@taskbridge/protocol";
import { progressMethod, readProgressToken } from "@taskbridge/protocol/no-tasks";
import type { SessionCapabilities } from "@taskbridge/protocol/tasks-2025-11-25";
import { callPlainTool, progressReporter } from "../mcp/call-plain-tool.ts";
import { maxRounds, tooManyRounds } from "../mcp/max-rounds.ts";
import type { PlainToolContext } from "../mcp/plain-tool.ts";
import type { CatalogTool } from "../mcp/tool-catalog.ts";
import type { Request2025 } from "../session/request-2025.ts";
import { askOnCall } from "./ask-on-call.ts";

/**
 * Answers `tools/call` for an ordinary tool. What it asks by an `InputRequiredResult` goes to the client as requests of
 * their own, which is how these revisions ask, and the tool is called again with what came back.
 */
export const callPlain = async (
  request: Request2025,
  found: Extract<CatalogTool, { kind: "plain" }>,
): Promise<Result> => {
  let inputResponses: Readonly<Record<string, unknown>> | undefined;
  let state: JsonObject | undefined;
  for (let round = 0; ; round++) {
    const context = toContext(request, inputResponses, state);
    const result = await callPlainTool(found, request.params.arguments, context);
    if (!isInputRequiredResult(result)) return result;
    if (round === maxRounds) throw new ProtocolError(internalErrorCode, tooManyRounds(found.tool.name));
    const outcome = await askAll(request, result.inputRequests ?? {});
    if ("refused" in outcome) return { ...toErrorResult(`${found.tool.name} asks, but ${outcome.refused}`) };
    inputResponses = outcome.replies;
    state = result.requestState === undefined ? undefined : (JSON.parse(result.requestState) as JsonObject);
  }
};

interface Answers {
  readonly replies: Readonly<Record<string, unknown>>;
}

/** The answers by key, or why there are none: of several questions, one that is not answered takes the others back. */
const askAll = async (
  request: Request2025,
  requests: Readonly<Record<string, InputRequest>>,
): Promise<Answers | { readonly refused: string }> => {
  const capabilities = request.session.capabilities();
  for (const asked of Object.values(requests)) {
    const missing = missingCapability(asked, capabilities);
    if (missing !== undefined) return { refused: `the client has not declared ${missing}` };
  }
  const given = new AbortController();
  const asking = { ...request, signal: AbortSignal.any([request.signal, given.signal]) };
  let refused: string | undefined;
  const asked = Object.entries(requests).map(async ([key, { method, params = {} }]) => {
    const outcome = await askOnCall(asking, method, params);
    if ("reply" in outcome) return [key, outcome.reply] as const;
    refused ??= outcome.refused;
    given.abort(new Error("another question was refused"));
    return [key, undefined] as const;
  });
  try {
    const replies = Object.fromEntries(await Promise.all(asked));
    return refused === undefined ? { replies } : { refused };
  } catch (error) {
    if (refused === undefined) throw error;
    return { refused };
  }
};

/** https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities */
const missingCapability = (asked: InputRequest, { form, url, sampling }: SessionCapabilities): string | undefined => {
  if (asked.method === "sampling/createMessage") return sampling ? undefined : "sampling";
  if (asked.method !== "elicitation/create") return undefined;
  const isPage = asked.params.mode === "url";
  if (isPage ? url : form) return undefined;
  return `elicitation.${isPage ? "url" : "form"}`;
};

/** The state stays in this process, so it needs no signature. */
const toContext = (
  { session, id, owner, params, signal }: Request2025,
  inputResponses: Readonly<Record<string, unknown>> | undefined,
  state: JsonObject | undefined,
): PlainToolContext => ({
  owner,
  signal,
  reportProgress: progressReporter(readProgressToken(params._meta), (progress) =>
    session.link.notify(progressMethod, progress, id),
  ),
  inputResponses,
  readState: () => state,
  mintState: async (payload) => JSON.stringify(payload),
  mcp: undefined,
});

import { ProtocolError, type Result } from "@modelcontextprotocol/server";
import type { JsonObject } from "@taskbridge/core";
import { toErrorResult } from "@taskbridge/protocol";
import type { SessionCapabilities } from "@taskbridge/protocol/rev-2025-11-25";
import { readProgressToken } from "@taskbridge/protocol/untasked";
import { callPlainTool, progressReporter } from "../mcp/call-plain-tool.ts";
import type { PlainToolContext } from "../mcp/plain-tool.ts";
import type { CatalogTool } from "../mcp/tool-catalog.ts";
import { askOnCall } from "./ask-on-call.ts";
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
    const outcome = await askAll(request, (result.inputRequests ?? {}) as InputRequests);
    if ("refused" in outcome) return { ...toErrorResult(`${found.tool.name} asks, but ${outcome.refused}`) };
    inputResponses = outcome.replies;
    state = typeof result.requestState === "string" ? (JSON.parse(result.requestState) as JsonObject) : undefined;
  }
  throw new ProtocolError(-32_603, `${found.tool.name} has asked ${maxRounds} times without coming to an end.`);
};

interface Answers {
  readonly replies: Readonly<Record<string, unknown>>;
}

type InputRequests = Readonly<Record<string, { readonly method: string; readonly params?: object }>>;

/** The answers by key, or why there are none: of several questions, one that is not answered takes the others back. */
const askAll = async (
  request: LegacyRequest,
  requests: InputRequests,
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
const missingCapability = (
  { method, params }: InputRequests[string],
  { form, url, sampling }: SessionCapabilities,
): string | undefined => {
  if (method === "sampling/createMessage") return sampling ? undefined : "sampling";
  if (method !== "elicitation/create") return undefined;
  const isPage = (params as { readonly mode?: unknown } | undefined)?.mode === "url";
  if (isPage ? url : form) return undefined;
  return `elicitation.${isPage ? "url" : "form"}`;
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

import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  type Result,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { readCapabilities } from "@taskbridge/protocol/tasks-2026-07-28";

type Asked = Readonly<Record<string, { readonly method?: string; readonly params?: { readonly mode?: string } }>>;

/**
 * Throws -32021 where a result asks for input that the request's sender did not declare to give. The SDK would see to
 * this, had it called our handler itself.
 */
export const requireAskable = (
  result: Result & { readonly inputRequests?: unknown },
  { mcpReq }: ServerContext,
): void => {
  if (result.resultType !== "input_required") return;
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as Readonly<Record<string, unknown>> | undefined;
  const modes = readCapabilities(declared);
  for (const { method, params } of Object.values((result.inputRequests ?? {}) as Asked)) {
    const mode = params?.mode === "url" ? "url" : "form";
    if (method === "elicitation/create" && !modes[mode]) throw missing({ elicitation: { [mode]: {} } });
    if (method === "sampling/createMessage" && declared?.sampling === undefined) throw missing({ sampling: {} });
    if (method === "roots/list" && declared?.roots === undefined) throw missing({ roots: {} });
  }
};

const missing = (requiredCapabilities: Record<string, object>): MissingRequiredClientCapabilityError =>
  new MissingRequiredClientCapabilityError({ requiredCapabilities });

import type { AuthInfo, ServerContext } from "@modelcontextprotocol/server";
import { protocolVersion as modernVersion } from "@taskbridge/protocol/tasks-2026-07-28";
import { type Owner, type OwnerPolicy, readOwner } from "../caller.ts";
import type { Connection } from "../mcp/serve-context.ts";
import type { RequestId } from "../session/client-link.ts";
import type { SdkParts } from "./sdk-server.ts";

/** What is known of one request in somebody else's server. */
export interface AttachedRequest extends Connection {
  readonly id: RequestId;
  readonly signal: AbortSignal;
  /** As the HTTP header says; undefined on other transports. */
  readonly revisionHeader: string | undefined;
  /** SDK 2. */
  readonly context: ServerContext | undefined;
}

/** What SDK 1 gives its handlers. */
interface ExtraV1 {
  readonly signal: AbortSignal;
  readonly requestId: RequestId;
  readonly sessionId?: string;
  readonly authInfo?: AuthInfo;
  readonly requestInfo?: { readonly headers: Readonly<Record<string, string | string[] | undefined>> };
}

const revisionHeader = "mcp-protocol-version";

/**
 * Reads what either SDK says about a request. Without verified auth the owner is the policy's; by default `local` where
 * there is one client at the other end of a pipe, and nobody over HTTP, where it may be anyone.
 */
export const readRequest = (
  { server, sdk }: SdkParts,
  extra: unknown,
  policy: OwnerPolicy | undefined,
): AttachedRequest => {
  const ownerOf = (authInfo: AuthInfo | undefined, isHttp: boolean): Owner =>
    readOwner(authInfo, policy ?? (isHttp ? "none" : "local"));
  if (sdk === 2) {
    const context = extra as ServerContext;
    const { mcpReq, http, sessionId } = context;
    const isHttp = http !== undefined || sessionId !== undefined;
    const negotiated = server.getNegotiatedProtocolVersion?.();
    return {
      id: mcpReq.id,
      signal: mcpReq.signal,
      era: negotiated !== undefined && negotiated >= modernVersion ? "modern" : "legacy",
      transport: isHttp ? "http" : "stdio",
      owner: ownerOf(http?.authInfo, isHttp),
      revisionHeader: http?.req?.headers.get(revisionHeader) ?? undefined,
      context,
    };
  }
  const { requestId, signal, authInfo, requestInfo, sessionId } = extra as ExtraV1;
  // Earlier versions of the SDK tell nothing of a request but its session, which a pipe does not have.
  const isHttp = requestInfo !== undefined || sessionId !== undefined;
  const header = requestInfo?.headers[revisionHeader];
  return {
    id: requestId,
    signal,
    era: "legacy",
    transport: isHttp ? "http" : "stdio",
    owner: ownerOf(authInfo, isHttp),
    revisionHeader: typeof header === "string" ? header : undefined,
    context: undefined,
  };
};

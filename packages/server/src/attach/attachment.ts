import { ProtocolError } from "@modelcontextprotocol/server";
import { internalErrorCode } from "@taskbridge/protocol";
import type { OwnerPolicy } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { Request2025 } from "../session/request-2025.ts";
import { type AttachedRequest, readRequest } from "./attached-request.ts";
import type { AttachedSession } from "./attached-session.ts";
import type { SdkParts, SdkRequest } from "./sdk-server.ts";

/** Our tasks in somebody else's server. */
export interface Attachment {
  readonly serve: ServeContext;
  readonly parts: SdkParts;
  readonly session: AttachedSession;
  readonly policy: OwnerPolicy | undefined;
}

export const readAttached = ({ parts, policy }: Attachment, extra: unknown): AttachedRequest =>
  readRequest(parts, extra, policy);

/** The host's server goes on without the task server, which has nothing to answer with any more. */
export const requireRunning = ({ stopping }: ServeContext): void => {
  if (stopping.aborted) throw stoppedError();
};

export const stoppedError = (): ProtocolError =>
  new ProtocolError(internalErrorCode, "The task server was stopped. Tasks go on: ask again once it runs");

/** Revisions before the header was introduced have none. */
const revisionWithoutHeader = "2025-03-26";

/** A request of a 2025 revision. In a server that is made for each request nobody has heard the handshake. */
export const toRequest2025 = (
  attachment: Attachment,
  { method, params = {} }: SdkRequest,
  { id, owner, transport, signal, revisionHeader }: AttachedRequest,
): Request2025 => {
  const session = attachment.session.current();
  if (session.revision() === undefined) session.introduce(undefined, revisionHeader ?? revisionWithoutHeader);
  return { id, method, params, session, owner, transport, signal };
};

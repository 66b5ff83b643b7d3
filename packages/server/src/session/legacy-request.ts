import type { Owner } from "../caller.ts";
import type { RequestId } from "./client-link.ts";
import type { LegacySession } from "./legacy-session.ts";

/** One request of a client of a 2025 revision, whichever SDK took it in. */
export interface LegacyRequest {
  readonly id: RequestId;
  readonly method: string;
  /** As sent. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly session: LegacySession;
  readonly owner: Owner;
  readonly transport: "http" | "stdio";
  /** Fires when the client cancels the request or its connection is lost. */
  readonly signal: AbortSignal;
}

import type { Owner } from "../caller.ts";
import type { RequestId } from "./client-link.ts";
import type { Session2025 } from "./session-2025.ts";

/** One request of a client of a 2025 revision, whichever SDK took it in. */
export interface Request2025 {
  readonly id: RequestId;
  readonly method: string;
  /** As sent. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly session: Session2025;
  readonly owner: Owner;
  readonly transport: "http" | "stdio";
  /** Fires when the client cancels the request or its connection is lost. */
  readonly signal: AbortSignal;
}

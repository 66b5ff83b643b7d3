import { BridgeError, type Limits } from "@taskbridge/core";

/** What the wire side allows, beside the engine's own limits. */
export interface WireLimits {
  /** The largest HTTP request body in bytes; more is answered with 413. */
  readonly maxBodyBytes: number;
  /** The most tasks that one `subscriptions/listen` follows. */
  readonly maxListenTaskIds: number;
  /** The most such streams that one owner has open at once. Callers without an owner count as one. */
  readonly maxListenStreamsPerOwner: number;
  /** The most such streams altogether. */
  readonly maxListenStreams: number;
  /** The most `tasks/result`, `task_status` and calls of the SEP-1686 draft of one owner that wait for a task at once. */
  readonly maxWaitsPerOwner: number;
  /** The most such waits altogether. */
  readonly maxWaits: number;
  /** The most sessions of clients of the 2025 revisions; the one unused for longest makes room. */
  readonly maxSessions: number;
  /** The most such sessions of one owner. Callers without an owner count as one. */
  readonly maxSessionsPerOwner: number;
  /** Such a session makes room when nothing of it was used for this long (milliseconds). Its client goes on with it later. */
  readonly sessionIdleMs: number;
}

export const defaultWireLimits: WireLimits = {
  maxBodyBytes: 4_194_304,
  maxListenTaskIds: 100,
  maxListenStreamsPerOwner: 32,
  maxListenStreams: 1_024,
  maxWaitsPerOwner: 256,
  maxWaits: 8_192,
  maxSessions: 10_000,
  maxSessionsPerOwner: 1_000,
  sessionIdleMs: 1_800_000,
};

/** Splits the configured limits into the wire's and the engine's. Throws `misconfigured` with `data.path`. */
export const splitLimits = (
  configured: Partial<Limits & WireLimits> = {},
): { readonly wire: WireLimits; readonly engine: Partial<Limits> } => {
  const wire: Record<string, number> = { ...defaultWireLimits };
  const engine: Record<string, number> = {};
  for (const [name, value] of Object.entries(configured)) {
    if (value === undefined) continue;
    if (!(name in defaultWireLimits)) {
      engine[name] = value;
      continue;
    }
    if (!Number.isSafeInteger(value) || value < 1) {
      const path = `limits.${name}`;
      throw new BridgeError("misconfigured", `${path}: a whole number of at least 1 is needed, got ${String(value)}`, {
        data: { path },
      });
    }
    wire[name] = value;
  }
  return { wire: { ...defaultWireLimits, ...wire }, engine: engine as Partial<Limits> };
};

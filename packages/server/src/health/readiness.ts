import type { TaskEngine } from "@taskbridge/core";
import type { StoreProbe } from "./store-probe.ts";

/** Whether a server should be sent requests, and why not. */
export interface Readiness {
  readonly ready: boolean;
  /** Whether the store has just answered. */
  readonly store: "ok" | "unavailable";
  /** The server is about to stop: it still serves, but requests should go elsewhere. */
  readonly draining: boolean;
  /**
   * Names of the adapters whose backends do not answer. They make no server unready: the tools of the others work, and tasks can
   * be read.
   */
  readonly unavailable: readonly string[];
  readonly version: string;
}

export interface ReadinessParts {
  readonly engine: Pick<TaskEngine, "unavailableAdapters">;
  readonly probe: StoreProbe;
  readonly version: string;
  readonly isDraining: () => boolean;
}

/**
 * A store that is away for less long makes nobody unready (milliseconds): it restarts, or its standby takes over. All replicas
 * lose it at once, and where none is ready their callers get a balancer's error in place of ours. One that is away for longer may
 * be out of reach for this replica alone, and the others do better.
 */
const toleratedMs = 5_000;

/** Never rejects; resolves within a second or so. */
export const createReadiness =
  ({ engine, probe, version, isDraining }: ReadinessParts): (() => Promise<Readiness>) =>
  async () => {
    const { answers, unavailableForMs } = await probe.ask();
    const draining = isDraining();
    return {
      ready: !draining && unavailableForMs < toleratedMs,
      store: answers ? "ok" : "unavailable",
      draining,
      unavailable: engine.unavailableAdapters(),
      version,
    };
  };

import type { Lease } from "../../contract/task-store.ts";
import type { EngineContext } from "./engine-context.ts";
import { toFaultEvent } from "./until-stored.ts";

/** What a leader does. Neither may throw. */
export interface LedWork {
  /** This process leads from now on. */
  gained(): void;
  /** It no longer does: another may already. */
  lost(): void;
}

/** Whoever dies or freezes while leading is followed by another after this long (milliseconds). */
const leaseMs = 10_000;
/** How often the leader shows that it is there, and others ask whether it still is (milliseconds). */
const beatMs = 2_500;

/** Leads from the start, whoever else does. */
export const soleLead = ({ gained, lost }: LedWork): Service => ({ start: gained, stop: async () => lost() });

/**
 * One process of all that share a store does a piece of work, and goes on as long as it lives and reaches the store; then
 * another takes over. For a moment two may believe that they lead, so that only cost may rest on it.
 */
export const leadership = (engine: EngineContext, name: string, work: LedWork): Service => {
  let lease: Lease | undefined;
  let heldUntil = Number.NEGATIVE_INFINITY;
  let isLeading = false;
  let isStopped = false;
  let cancelTimer: () => void = () => {};
  let cancelLapse: () => void = () => {};
  let turn: Promise<void> = Promise.resolve();

  const lead = (leads: boolean): void => {
    if (leads === isLeading) return;
    isLeading = leads;
    engine.audit({ kind: leads ? "lead_gained" : "lead_lost", message: name });
    if (leads) work.gained();
    else work.lost();
  };

  /** Counted from before the question was sent: no later than the store does. */
  const beat = async (): Promise<void> => {
    const askedAt = engine.store.now();
    try {
      if (lease !== undefined && !(await lease.renew())) lease = undefined;
      lease ??= await engine.store.lease(name, leaseMs);
      heldUntil = lease === undefined ? Number.NEGATIVE_INFINITY : askedAt + leaseMs;
    } catch (error) {
      engine.audit(toFaultEvent(error, `the lease ${name}`));
    }
    if (isStopped) return;
    const leftMs = heldUntil - engine.store.now();
    lead(leftMs > 0);
    // A beat may hang for as long as the store does.
    cancelLapse();
    if (leftMs > 0) cancelLapse = engine.clock.schedule(leftMs, () => lead(false));
  };

  const beatOn = (): void => {
    turn = beat().then(() => {
      if (!isStopped) cancelTimer = engine.clock.schedule(beatMs, beatOn);
    });
  };

  return {
    start: beatOn,
    stop: async () => {
      isStopped = true;
      cancelTimer();
      cancelLapse();
      await turn;
      if (isLeading) work.lost();
      isLeading = false;
      // It lapses by itself where it cannot be given back.
      await lease?.release().catch(() => {});
    },
  };
};

/** Something that an open engine does by itself. */
export interface Service {
  start(): void;
  /** Resolves when nothing of it is under way any more. */
  stop(): Promise<void>;
}

import type { AdapterId } from "../../contract/identity.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { type Backoff, createBackoff } from "./backoff.ts";
import { callPacer } from "./call-pacer.ts";

/** Look-ups of one backend, waiting to be asked for together and no sooner than it allows. */
export interface InspectQueue<Ticket> {
  readonly backoff: Backoff;
  push(ticket: Ticket, delayMs: number): void;
  /** Asks for nothing more. */
  stop(): void;
}

/** Calls under way at once for one adapter. */
const maxCalls = 4;

export const inspectQueue = <Ticket>(
  engine: EngineContext,
  adapterId: AdapterId,
  run: (batch: readonly Ticket[], backoff: Backoff) => Promise<void>,
): InspectQueue<Ticket> => {
  const traits = engine.adapters.get(adapterId)?.traits;
  const backoff = createBackoff(engine);
  const waiting: Ticket[] = [];
  const timers = new Set<() => void>();
  let running = 0;
  const pacer = callPacer(engine, adapterId, () => flush());
  let isPlanned = false;
  let isStopped = false;

  const later = (delayMs: number, action: () => void): void => {
    const cancel = engine.clock.schedule(delayMs, () => {
      timers.delete(cancel);
      action();
    });
    timers.add(cancel);
  };

  const plan = (delayMs: number): void => {
    if (isPlanned) return;
    isPlanned = true;
    const flushNow = (): void => {
      isPlanned = false;
      flush();
    };
    // In a microtask at the earliest, so that all who ask in one turn share a batch.
    if (delayMs > 0) later(delayMs, flushNow);
    else queueMicrotask(flushNow);
  };

  const flush = (): void => {
    // After a refusal, one call tries whether the backend is back.
    while (!isStopped && waiting.length > 0 && running < (backoff.ms > 0 ? 1 : maxCalls)) {
      const now = engine.store.now();
      if (now < backoff.until) {
        plan(backoff.until - now);
        return;
      }
      const waitMs = pacer.take();
      if (waitMs > 0) {
        if (waitMs !== Number.POSITIVE_INFINITY) plan(waitMs);
        return;
      }
      const batch = waiting.splice(0, Math.max(1, traits?.inspectBatch ?? 1));
      running++;
      const call = run(batch, backoff).finally(() => {
        running--;
        flush();
      });
      engine.background(call);
    }
  };

  const push = (ticket: Ticket): void => {
    waiting.push(ticket);
    plan(0);
  };

  return {
    backoff,
    push: (ticket, delayMs) => {
      if (delayMs > 0) later(delayMs, () => push(ticket));
      else push(ticket);
    },
    stop: () => {
      isStopped = true;
      for (const cancel of timers) cancel();
      timers.clear();
    },
  };
};

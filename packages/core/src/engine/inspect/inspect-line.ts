import type { AdapterId } from "../../contract/identity.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { callPacer } from "./call-pacer.ts";
import { createPenalty, type Penalty } from "./penalty.ts";

/** Look-ups of one backend, waiting to be asked for together and no sooner than it allows. */
export interface InspectLine<Ticket> {
  readonly penalty: Penalty;
  push(ticket: Ticket, delayMs: number): void;
  /** Asks for nothing more. */
  stop(): void;
}

/** Calls under way at once for one adapter. */
const mostCalls = 4;

export const inspectLine = <Ticket>(
  engine: EngineContext,
  adapterId: AdapterId,
  run: (batch: readonly Ticket[], penalty: Penalty) => Promise<void>,
): InspectLine<Ticket> => {
  const traits = engine.adapters.get(adapterId)?.traits;
  const penalty = createPenalty(engine);
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
    while (!isStopped && waiting.length > 0 && running < (penalty.ms > 0 ? 1 : mostCalls)) {
      const now = engine.store.now();
      if (now < penalty.until) {
        plan(penalty.until - now);
        return;
      }
      const waitMs = pacer.take();
      if (waitMs > 0) {
        if (waitMs !== Number.POSITIVE_INFINITY) plan(waitMs);
        return;
      }
      const batch = waiting.splice(0, Math.max(1, traits?.inspectBatch ?? 1));
      running++;
      const call = run(batch, penalty).finally(() => {
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
    penalty,
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

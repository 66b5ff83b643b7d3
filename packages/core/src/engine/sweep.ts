import { toBridgeError } from "../contract/bridge-error.ts";
import type { AdapterId } from "../contract/identity.ts";
import type { WorkflowAdapter } from "../contract/workflow-adapter.ts";
import type { EngineContext } from "./engine-context.ts";
import type { InspectScheduler } from "./inspect-scheduler.ts";

/** Records read at once. */
const pageSize = 200;

/** How often an execution that nobody reads is looked at: as the server says, or twice in the time its backend remembers. */
export const sweepIntervalMs = (engine: EngineContext, adapter: WorkflowAdapter): number =>
  Math.min(engine.limits.sweepIntervalMs, (adapter.traits.mustInspectWithinMs ?? Number.POSITIVE_INFINITY) / 2);

/** Looks, in turn, at every execution that holds a slot, so that an end is noticed although nobody asks. */
export const sweeper = (
  engine: EngineContext,
  scheduler: InspectScheduler,
): { start(): void; stop(): Promise<void> } => {
  const timers = new Map<AdapterId, () => void>();
  const turns = new Set<Promise<void>>();
  let isStopped = false;

  const plan = (adapterId: AdapterId, adapter: WorkflowAdapter, delayMs: number): void => {
    if (isStopped) return;
    timers.set(
      adapterId,
      engine.clock.schedule(delayMs, () => {
        const turn = sweepOnce(engine, scheduler, adapterId, adapter)
          .catch((error: unknown) =>
            engine.audit({ kind: "internal_error", adapterId, message: `the sweep: ${toBridgeError(error).message}` }),
          )
          .finally(() => {
            turns.delete(turn);
            plan(adapterId, adapter, sweepIntervalMs(engine, adapter));
          });
        turns.add(turn);
      }),
    );
  };

  return {
    start: () => {
      for (const [adapterId, adapter] of engine.adapters)
        if (adapter.inspect !== undefined) plan(adapterId, adapter, 0);
    },
    stop: async () => {
      isStopped = true;
      for (const cancel of timers.values()) cancel();
      await Promise.all(turns);
    },
  };
};

const sweepOnce = async (
  engine: EngineContext,
  scheduler: InspectScheduler,
  adapterId: AdapterId,
  adapter: WorkflowAdapter,
): Promise<void> => {
  const everyMs = sweepIntervalMs(engine, adapter);
  const lease = await engine.store.lease(`sweep:${adapterId}`, everyMs + engine.limits.callTimeoutMs);
  // Another process sweeps for all.
  if (lease === undefined) return;
  const want = adapter.traits.questions === "none" ? "status" : "detail";
  const startedAt = engine.store.now();
  let cursor: string | undefined;
  do {
    const page = await engine.store.list(
      { operator: true },
      { adapterId, slotHeld: true, includeExpired: true },
      cursor,
      pageSize,
    );
    // A look a little younger than the interval counts, or every other sweep would pass it over.
    const stale = page.records.filter(
      (record) => startedAt - (scheduler.lastLookedAt(record.taskId) ?? 0) >= everyMs / 2,
    );
    await Promise.all(stale.map((record) => scheduler.lookNow(record, want)));
    cursor = page.cursor;
    if (cursor !== undefined && !(await lease.renew())) return;
  } while (cursor !== undefined && !engine.closing.aborted);
  scheduler.prune(startedAt - 10 * everyMs);
  await lease.release();
};

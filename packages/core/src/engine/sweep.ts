import { toBridgeError } from "../contract/bridge-error.ts";
import type { AdapterId } from "../contract/identity.ts";
import type { TaskRecord } from "../contract/task-record.ts";
import type { Lease } from "../contract/task-store.ts";
import type { WorkflowAdapter } from "../contract/workflow-adapter.ts";
import { chooseDetailed } from "./choose-detailed.ts";
import type { EngineContext } from "./engine-context.ts";
import type { InspectScheduler } from "./inspect-scheduler.ts";
import type { Service } from "./service.ts";

/** Records read at once. */
const leastPage = 200;
const mostPage = 1_000;

/** Whose executions are swept. */
interface Swept {
  readonly adapterId: AdapterId;
  readonly adapter: WorkflowAdapter;
  /** When this process began to (epoch milliseconds): it knows of no look before. */
  readonly since: number;
}

/** How often an execution that nobody reads is looked at: as the server says, or thrice in the time its backend remembers. */
export const sweepIntervalMs = (engine: EngineContext, adapter: WorkflowAdapter): number =>
  Math.min(engine.limits.sweepIntervalMs, (adapter.traits.mustInspectWithinMs ?? Number.POSITIVE_INFINITY) / 3);

/** Looks, in turn, at every execution that holds a slot, so that an end is noticed although nobody asks. */
export const sweeper = (engine: EngineContext, scheduler: InspectScheduler): Service => {
  const timers = new Map<AdapterId, () => void>();
  const turns = new Set<Promise<void>>();
  const leases = new Map<AdapterId, Lease>();
  let isStopped = false;
  let since = 0;

  /** One process sweeps for all, and goes on doing so: whoever holds the lease keeps it while it lives. */
  const lead = async (adapterId: AdapterId, everyMs: number): Promise<Lease | undefined> => {
    const held = leases.get(adapterId);
    if (held !== undefined && (await held.renew())) return held;
    leases.delete(adapterId);
    const lease = await engine.store.lease(`sweep:${adapterId}`, Math.ceil(everyMs * 1.5));
    if (lease !== undefined) leases.set(adapterId, lease);
    return lease;
  };

  /**
   * One sweep, if this process leads. The first one whoever leads: the leader may be a process that was killed, and what
   * ended while nobody ran is to be noticed now, not when its lease lapses.
   */
  const turn = async (adapterId: AdapterId, adapter: WorkflowAdapter, isFirst: boolean): Promise<void> => {
    const everyMs = sweepIntervalMs(engine, adapter);
    scheduler.prune(engine.store.now() - 10 * everyMs);
    const lease = await lead(adapterId, everyMs);
    if (lease === undefined && !isFirst) return;
    const mayGoOn = async (): Promise<boolean> => isFirst || (await lease?.renew()) === true;
    await sweepOnce(engine, scheduler, { adapterId, adapter, since }, mayGoOn);
  };

  const plan = (adapterId: AdapterId, adapter: WorkflowAdapter, delayMs: number, isFirst = false): void => {
    if (isStopped) return;
    timers.set(
      adapterId,
      engine.clock.schedule(delayMs, () => {
        const sweep = turn(adapterId, adapter, isFirst)
          .catch((error: unknown) =>
            engine.audit({ kind: "internal_error", adapterId, message: `the sweep: ${toBridgeError(error).message}` }),
          )
          .finally(() => {
            turns.delete(sweep);
            plan(adapterId, adapter, sweepIntervalMs(engine, adapter));
          });
        turns.add(sweep);
      }),
    );
  };

  return {
    start: () => {
      since = engine.store.now();
      for (const [adapterId, adapter] of engine.adapters)
        if (adapter.inspect !== undefined) plan(adapterId, adapter, 0, true);
    },
    stop: async () => {
      isStopped = true;
      for (const cancel of timers.values()) cancel();
      await Promise.all(turns);
      await Promise.allSettled([...leases.values()].map((lease) => lease.release()));
    },
  };
};

const sweepOnce = async (
  engine: EngineContext,
  scheduler: InspectScheduler,
  { adapterId, adapter, since }: Swept,
  mayGoOn: () => Promise<boolean>,
): Promise<void> => {
  const everyMs = sweepIntervalMs(engine, adapter);
  const startedAt = engine.store.now();
  // A look a little younger than the interval counts, or every other sweep would pass it over.
  const isStale = ({ taskId }: TaskRecord): boolean => startedAt - (scheduler.lastLookedAt(taskId) ?? 0) >= everyMs / 2;
  const pages = (): AsyncIterable<readonly TaskRecord[]> => stalePages(engine, adapterId, adapter, isStale);
  const records = async function* (): AsyncIterable<TaskRecord> {
    for await (const page of pages()) yield* page;
  };
  const wantsDetail = await chooseDetailed(adapter.traits, records, {
    now: startedAt,
    everyMs,
    lastDetailedAt: ({ taskId, createdAt }) => scheduler.lastDetailedAt(taskId) ?? Math.max(createdAt, since),
  });
  for await (const page of pages()) {
    await Promise.all(page.map((record) => scheduler.lookNow(record, wantsDetail(record) ? "detail" : "status")));
    if (engine.closing.aborted || !(await mayGoOn())) return;
  }
};

/** Records of executions that hold a slot and were not looked at of late, as many at once as go into one call. */
async function* stalePages(
  engine: EngineContext,
  adapterId: AdapterId,
  { traits }: WorkflowAdapter,
  isStale: (record: TaskRecord) => boolean,
): AsyncIterable<readonly TaskRecord[]> {
  const filter = { adapterId, slotHeld: true, includeExpired: true };
  const size = Math.min(Math.max(traits.inspectBatch, leastPage), mostPage);
  let cursor: string | undefined;
  do {
    const page = await engine.store.list({ operator: true }, filter, cursor, size);
    yield page.records.filter(isStale);
    cursor = page.cursor;
  } while (cursor !== undefined && !engine.closing.aborted);
}

import type { AdapterId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { WorkflowAdapter } from "../../contract/workflow-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { leadership, type Service } from "../context/leadership.ts";
import { toFaultEvent } from "../context/until-stored.ts";
import { chooseDetailed } from "./choose-detailed.ts";
import type { InspectScheduler } from "./inspect-scheduler.ts";

/** Records read at once. */
const minPage = 200;
const maxPage = 1_000;

/** Whose executions are swept. */
interface Swept {
  readonly adapterId: AdapterId;
  readonly adapter: WorkflowAdapter;
  /** When this process began to lead (epoch milliseconds): it knows of no look before. */
  readonly since: number;
}

/** How often an execution that nobody reads is looked at: as the server says, or thrice in the time its backend remembers. */
export const sweepIntervalMs = (engine: EngineContext, adapter: WorkflowAdapter): number =>
  Math.min(engine.limits.sweepIntervalMs, (adapter.traits.mustInspectWithinMs ?? Number.POSITIVE_INFINITY) / 3);

/** Looks, in turn, at every execution that holds a slot, so that an end is noticed although nobody asks. One process does so for all. */
export const sweeper = (engine: EngineContext, scheduler: InspectScheduler): Service => {
  const services = [...engine.adapters]
    .filter(([, adapter]) => adapter.inspect !== undefined)
    .map(([adapterId, adapter]) => adapterSweeper(engine, scheduler, adapterId, adapter));
  return {
    start: () => {
      for (const service of services) service.start();
    },
    stop: async () => void (await Promise.all(services.map((service) => service.stop()))),
  };
};

const adapterSweeper = (
  engine: EngineContext,
  scheduler: InspectScheduler,
  adapterId: AdapterId,
  adapter: WorkflowAdapter,
): Service => {
  const everyMs = sweepIntervalMs(engine, adapter);
  let isLeading = false;
  let since = 0;
  let cancelTimer: () => void = () => {};
  let cancelPruning: () => void = () => {};
  let sweep: Promise<void> | undefined;

  const plan = (delayMs: number, isFirst = false): void => {
    cancelTimer();
    cancelTimer = engine.clock.schedule(delayMs, () => {
      sweep ??= sweepOnce(engine, scheduler, { adapterId, adapter, since }, () => isLeading || isFirst)
        .catch((error: unknown) => engine.audit({ ...toFaultEvent(error, "the sweep"), adapterId }))
        .finally(() => {
          sweep = undefined;
          if (isLeading) plan(everyMs);
        });
    });
  };

  /** Also where another process sweeps: looks are remembered of what was read here. */
  const pruneOn = (): void => {
    scheduler.prune(engine.store.now() - 10 * everyMs);
    cancelPruning = engine.clock.schedule(everyMs, pruneOn);
  };

  const lead = leadership(engine, `sweep:${adapterId}`, {
    gained: () => {
      isLeading = true;
      since = engine.store.now();
      // What ended while nobody led is to be noticed now.
      if (sweep === undefined) plan(0);
    },
    lost: () => {
      isLeading = false;
      cancelTimer();
    },
  });

  return {
    start: () => {
      // A server that was killed is followed at once, where others are not likely, and not when its lease lapses.
      if (!engine.store.shared) plan(0, true);
      lead.start();
      pruneOn();
    },
    stop: async () => {
      cancelPruning();
      await lead.stop();
      await sweep;
    },
  };
};

const sweepOnce = async (
  engine: EngineContext,
  scheduler: InspectScheduler,
  { adapterId, adapter, since }: Swept,
  mayGoOn: () => boolean,
): Promise<void> => {
  const everyMs = sweepIntervalMs(engine, adapter);
  const startedAt = engine.store.now();
  // A look a little younger than the interval counts, or every other sweep would pass it over.
  const isStale = ({ taskId }: TaskRecord): boolean =>
    startedAt - (scheduler.lastInspectedAt(taskId) ?? 0) >= everyMs / 2;
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
    await Promise.all(page.map((record) => scheduler.inspectNow(record, wantsDetail(record) ? "detail" : "status")));
    if (engine.closing.aborted || !mayGoOn()) return;
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
  const size = Math.min(Math.max(traits.inspectBatch, minPage), maxPage);
  let cursor: string | undefined;
  do {
    const page = await engine.store.list({ operator: true }, filter, cursor, size);
    yield page.records.filter(isStale);
    cursor = page.cursor;
  } while (cursor !== undefined && !engine.closing.aborted);
}

import {
  type CallContext,
  type ExecutionChild,
  type ExecutionSnapshot,
  type InspectItem,
  type InspectOutcome,
  isEnded,
  toBridgeError,
} from "@taskbridge/core/adapter";
import { cancelJob } from "./cancel-job.ts";
import type { BullmqClient, JobRow, QueuePort, QueueRead } from "./client.ts";
import { type JobPlace, parseJobKey, parseRef } from "./execution-ref.ts";
import { findLostJobs } from "./find-lost-jobs.ts";
import { lastStack, toSnapshot } from "./to-snapshot.ts";

/** A job to look at, and the items that asked for it. */
interface Wanted {
  readonly place: JobPlace;
  readonly detail: boolean;
  readonly previous: ExecutionSnapshot | undefined;
}

const keyOf = ({ prefix, queue }: Pick<JobPlace, "prefix" | "queue">): string => `${prefix}:${queue}`;

const groupBy = <Item>(items: readonly Item[], key: (item: Item) => string): readonly (readonly Item[])[] => {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return [...groups.values()];
};

const isCancelledInQueue = ({ cancelReason, state }: JobRow): boolean =>
  cancelReason !== undefined && (state === "waiting" || state === "delayed" || state === "waiting-children");

const nameOf = (row: JobRow | undefined, place: JobPlace): string => row?.name ?? place.id;

/** What the children of a job are doing, over all queues, in one more round trip. */
const readChildren = async (
  client: BullmqClient,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ExecutionChild>> => {
  const places = keys.flatMap((key) => {
    const place = parseJobKey(key);
    return place === undefined ? [] : [{ key, place }];
  });
  const groups = await Promise.all(
    groupBy(places, ({ place }) => keyOf(place)).map(async (group) => {
      const [first] = group;
      if (first === undefined) return [];
      const queue = await client.open(first.place, signal);
      const { rows, isPaused } = await queue.read(
        group.map(({ place }) => place.id),
        false,
      );
      return group.flatMap(({ key, place }, index): [string, ExecutionChild][] => {
        const row = rows[index];
        // Its parent still counts it, so it was processed and then removed.
        if (row === undefined || row.state === "missing") return [[key, { name: place.id, status: "succeeded" }]];
        return [[key, { name: nameOf(row, place), status: toSnapshot(row, { isPaused }).status }]];
      });
    }),
  );
  return new Map(groups.flat());
};

const withChildren = async (
  client: BullmqClient,
  snapshot: ExecutionSnapshot,
  row: JobRow,
  signal: AbortSignal,
): Promise<ExecutionSnapshot> => {
  if (row.childKeys.length === 0) return snapshot;
  const children = await readChildren(client, row.childKeys, signal);
  return { ...snapshot, children: row.childKeys.flatMap((key) => children.get(key) ?? []) };
};

/** Tells operators of a failure what models do not need to know. */
const logStack = (row: JobRow, { place, previous }: Wanted, context: CallContext): void => {
  const stack = row.state === "failed" ? lastStack(row) : undefined;
  if (stack === undefined || (previous !== undefined && isEnded(previous.status))) return;
  context.log("warn", `job ${place.id} of ${place.queue} failed`, { attempts: row.attemptsMade, stack });
};

const countWorkers = async (
  queue: QueuePort,
  wanted: readonly Wanted[],
  read: QueueRead,
): Promise<number | undefined> => {
  const isAsked = wanted.some(({ detail }, index) => detail && read.rows[index]?.state === "waiting");
  // Some hosted Redis do not list their clients.
  return isAsked ? queue.countWorkers().catch(() => undefined) : undefined;
};

/** Looks at jobs of one queue: one round trip, and more only for detail, for what is missing and for what is cancelled but came back. */
const inspectQueue = async (
  client: BullmqClient,
  wanted: readonly Wanted[],
  context: CallContext,
): Promise<readonly InspectOutcome[]> => {
  const [first] = wanted;
  if (first === undefined) return [];
  const queue = await client.open(first.place, context.signal);
  const plain = wanted.filter(({ detail }) => !detail).map(({ place }) => place.id);
  const detailed = wanted.filter(({ detail }) => detail).map(({ place }) => place.id);
  const [some, others] = await Promise.all([queue.read(plain, false), queue.read(detailed, true)]);
  const rows = new Map<string, JobRow>();
  for (const [index, id] of plain.entries()) rows.set(id, some.rows[index] as JobRow);
  for (const [index, id] of detailed.entries()) rows.set(id, others.rows[index] as JobRow);
  const read: QueueRead = {
    exists: some.exists || others.exists,
    isPaused: some.isPaused || others.isPaused,
    rows: wanted.map(({ place }) => rows.get(place.id) as JobRow),
  };
  const missing = wanted.filter((_, index) => read.rows[index]?.state === "missing").map(({ place }) => place.id);
  const [lost, workers] = await Promise.all([
    missing.length === 0 ? new Map<string, InspectOutcome>() : findLostJobs(queue, missing, read.exists),
    countWorkers(queue, wanted, read),
  ]);
  return Promise.all(
    wanted.map(async (want, index): Promise<InspectOutcome> => {
      const row = read.rows[index] as JobRow;
      const found = lost.get(want.place.id);
      if (found !== undefined) return found;
      if (isCancelledInQueue(row)) {
        // Its worker has given it back, to be tried again or to wait.
        const outcome = await cancelJob(client, want.place, row.cancelReason ?? "", context);
        if (outcome === "removed")
          return { snapshot: toSnapshot({ ...row, state: "gone", goneReason: row.cancelReason ?? "" }, read) };
      }
      logStack(row, want, context);
      const snapshot = toSnapshot(row, { ...read, workers: want.detail ? workers : undefined });
      return { snapshot: want.detail ? await withChildren(client, snapshot, row, context.signal) : snapshot };
    }),
  );
};

/** Looks at many jobs of any number of queues. Rejects when Redis cannot be asked. */
export const inspectJobs = async (
  client: BullmqClient,
  items: readonly InspectItem[],
  context: CallContext,
): Promise<readonly InspectOutcome[]> => {
  const outcomes: InspectOutcome[] = [];
  const wanted = items.flatMap(({ ref, want, previous }, index) => {
    try {
      return [{ index, place: parseRef(ref), detail: want === "detail", previous }];
    } catch (error) {
      outcomes[index] = { error: toBridgeError(error) };
      return [];
    }
  });
  await Promise.all(
    groupBy(wanted, ({ place }) => keyOf(place)).map(async (group) => {
      const found = await inspectQueue(client, group, context);
      for (const [position, { index }] of group.entries()) outcomes[index] = found[position] as InspectOutcome;
    }),
  );
  return outcomes;
};

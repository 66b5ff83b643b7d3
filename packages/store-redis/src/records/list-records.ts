import {
  type AdapterId,
  asTaskId,
  createCursor,
  type ListFilter,
  type ListPage,
  type ListPosition,
  type ListScope,
  parseCursor,
  type TaskRecord,
} from "@taskbridge/core/store";
import { type ExecutionKey, shards } from "../keys.ts";
import { loadScript } from "../redis/load-script.ts";
import type { Call, Reply } from "../redis/redis-port.ts";
import type { StoreContext } from "../store-context.ts";
import { deadlineOf } from "./attempt.ts";
import { parseEntry, toPosition } from "./index-entry.ts";
import { type IndexWalk, walkSet, walkSets } from "./index-walk.ts";
import { parseStored } from "./stored-record.ts";

/** What a listing wants. */
export interface Listing {
  readonly scope: ListScope;
  readonly filter: ListFilter;
  readonly cursor: string | undefined;
  /** Records. */
  readonly limit: number;
}

/** A record that is read through an entry must be the one that the entry was made for. */
interface Found {
  readonly entry: string;
  readonly record: TaskRecord | undefined;
  /** There is no such record, and never will be. */
  readonly isGone: boolean;
}

const getScript = loadScript("read-records");

/** As many as a ref may have had that was taken over; more than one is rare. */
const maxCandidates = 16;
/** So many records at most are read at once. */
const maxAtOnce = 512;
/** What an attempt that came to nothing has left is only taken away when it is this old (milliseconds), be clocks apart or not. */
const graceMs = 60_000;

export const listRecords = async (context: StoreContext, call: Call, listing: Listing): Promise<ListPage> => {
  const { scope, filter, cursor, limit } = listing;
  const { walk, set } = startWalk(
    context,
    call,
    listing,
    cursor === undefined ? undefined : toBound(parseCursor(cursor, scope, filter)),
  );
  const records: TaskRecord[] = [];
  // One more than asked tells whether there is a next page.
  for (let count = limit + 1; records.length <= limit; count = Math.min(2 * count, maxAtOnce)) {
    const entries = await walk.next(Math.min(count, maxAtOnce));
    if (entries.length === 0) break;
    const found = await readEntries(context, call, entries);
    if (set !== undefined) await dropGone(context, call, set, found);
    records.push(...found.flatMap(({ record }) => (record && isListed(record, scope, filter) ? [record] : [])));
  }
  const shown = records.slice(0, limit);
  const last = shown.at(-1);
  return records.length > limit && last !== undefined
    ? { records: shown, cursor: createCursor(last, scope, filter) }
    : { records: shown };
};

const toBound = ({ createdAt, taskId }: ListPosition): string => toPosition({ createdAt, taskId: asTaskId(taskId) });

/** The narrowest index that has all that is wanted. `set`: where that is one set, in another slot than the records. */
const startWalk = (
  { port, keys }: StoreContext,
  call: Call,
  { scope, filter }: Listing,
  below: string | undefined,
): { readonly walk: IndexWalk; readonly set?: string } => {
  const isOpen = filter.slotHeld === true;
  if ("operator" in scope && (!isOpen || filter.tool === undefined)) {
    const sets = shards.map((shard) => (isOpen ? keys.shard(shard).open : keys.shard(shard).all));
    return { walk: walkSets(port, call, sets, below) };
  }
  const set =
    "operator" in scope
      ? keys.openOfTool(filter.tool ?? "")
      : isOpen
        ? keys.openOfOwner(scope.owner)
        : keys.owned(scope.owner);
  return { walk: walkSet(port, call, set, below), set };
};

/** The records that entries were made for. */
const readEntries = async (
  { port, keys, now }: StoreContext,
  call: Call,
  entries: readonly string[],
): Promise<readonly Found[]> => {
  const parsed = entries.map(parseEntry);
  const locations = parsed.map(({ taskId }) => ({ keys: [keys.record(taskId)], args: [] }));
  const [texts] = (await port.send(call, [{ forEach: getScript, locations, first: [] }])) as [readonly Reply[]];
  return entries.map((entry, index): Found => {
    const text = texts[index];
    const stored = typeof text === "string" ? parseStored(text) : undefined;
    const { attempt } = parsed[index] as (typeof parsed)[number];
    const isMeant = stored?.attempt === attempt;
    return {
      entry,
      record: isMeant ? stored?.record : undefined,
      isGone: !isMeant && deadlineOf(attempt) + graceMs <= now(),
    };
  });
};

/**
 * Takes out what those have left who died between two steps. An entry whose record is there stays, although it does not belong here:
 * a revision may just be bringing it here.
 */
const dropGone = async ({ port }: StoreContext, call: Call, set: string, found: readonly Found[]): Promise<void> => {
  const gone = found.flatMap(({ entry, isGone }) => (isGone ? [entry] : []));
  if (gone.length > 0) await port.send(call, [{ call: ["zrem", set, ...gone] }]);
};

const isListed = (record: TaskRecord, scope: ListScope, filter: ListFilter): boolean =>
  ("operator" in scope || record.owner === scope.owner) &&
  (filter.adapterId === undefined || record.adapterId === filter.adapterId) &&
  (filter.tool === undefined || record.tool === filter.tool) &&
  (filter.slotHeld === undefined || record.slotHeld === filter.slotHeld) &&
  (filter.includeExpired === true || record.expired !== true);

/** The newest record of that adapter with this ref or start key. */
export const findRecord = async (
  context: StoreContext,
  call: Call,
  adapterId: AdapterId,
  by: ExecutionKey,
): Promise<TaskRecord | undefined> => {
  const set = context.keys.execution(adapterId, by);
  const [entries] = (await context.port.send(call, [{ call: ["zrevrange", set, 0, maxCandidates - 1] }])) as [
    readonly string[],
  ];
  if (entries.length === 0) return undefined;
  const found = await readEntries(context, call, entries);
  await dropGone(context, call, set, found);
  const isMeant = (record: TaskRecord | undefined): boolean =>
    record?.adapterId === adapterId && ("ref" in by ? record.ref === by.ref : record.startKey === by.key);
  return found.map(({ record }) => record).find(isMeant);
};

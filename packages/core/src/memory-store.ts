import { randomUUID } from "node:crypto";
import { assertRange, isCount } from "./contract/assert-range.ts";
import { BridgeError } from "./contract/bridge-error.ts";
import { type Clock, systemClock } from "./contract/clock.ts";
import type { TaskId } from "./contract/identity.ts";
import { revisionConflict } from "./contract/revision-conflict.ts";
import { assertValue } from "./contract/stored-values.ts";
import type { PayloadName, TaskRecord } from "./contract/task-record.ts";
import type {
  CreateOptions,
  Lease,
  ListFilter,
  ListScope,
  Payload,
  TaskStore,
  UniqueKey,
} from "./contract/task-store.ts";
import { createCursor, type ListPosition, parseCursor } from "./memory-cursor.ts";

export interface MemoryStoreOptions {
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** The most IDs that are named in a `limit_exceeded`. */
const maxNamedTasks = 100;

interface Entry {
  /** Our own copy, which never leaves: callers get a fresh parse of `text`. */
  readonly record: TaskRecord;
  readonly text: string;
  readonly payloads: Map<PayloadName, Uint8Array>;
  readonly uniqueKeys: readonly UniqueKey[];
}

/** Who has a unique key, and until when. */
interface KeyHolder {
  readonly taskId: TaskId;
  readonly until: number | undefined;
}

/** With fewer keys than this nobody looks for lapsed ones. */
const fewKeys = 1_000;

/** Keeps everything in this process and loses it with it: for tests, trials, and servers whose tasks may die with them. */
export const memoryStore = (options: MemoryStoreOptions = {}): TaskStore => {
  const clock = options.clock ?? systemClock;
  const entries = new Map<TaskId, Entry>();
  const uniqueKeys = new Map<string, KeyHolder>();
  let purgeAtSize = fewKeys;
  const values = new Map<string, string>();
  const leases = new Map<string, { readonly holder: string; readonly until: number }>();

  const put = (record: TaskRecord, { payloads, uniqueKeys }: Pick<Entry, "payloads" | "uniqueKeys">): TaskRecord => {
    const text = JSON.stringify(record);
    entries.set(record.taskId, { record: JSON.parse(text), text, payloads, uniqueKeys });
    return JSON.parse(text);
  };

  const selectRecords = (matches: (record: TaskRecord) => boolean): TaskRecord[] =>
    Array.from(entries.values(), (entry) => entry.record).filter(matches);

  const holderOf = (key: string): KeyHolder | undefined => {
    const holder = uniqueKeys.get(key);
    return holder?.until !== undefined && holder.until <= clock.now() ? undefined : holder;
  };

  /** Whenever their number has doubled: often enough that lapsed ones do not pile up, seldom enough to cost nothing. */
  const purgeLapsedKeys = (): void => {
    if (uniqueKeys.size < purgeAtSize) return;
    for (const key of uniqueKeys.keys()) if (holderOf(key) === undefined) uniqueKeys.delete(key);
    purgeAtSize = Math.max(fewKeys, 2 * uniqueKeys.size);
  };

  /** What is left of a key when its record goes. */
  const releaseKey = (taskId: TaskId, { key, heldForMs }: UniqueKey): void => {
    const holder = holderOf(key);
    if (holder !== undefined && holder.taskId !== taskId) return;
    const now = clock.now();
    const until =
      holder === undefined ? now : Math.max(holder.until ?? 0, heldForMs === undefined ? 0 : now + heldForMs);
    if (until > now) uniqueKeys.set(key, { taskId, until });
    else uniqueKeys.delete(key);
  };

  return {
    contract: 1,
    shared: false,
    now: () => clock.now(),

    create: async (record, createOptions) => {
      purgeLapsedKeys();
      // Keys before limits: a repeated call is to find its task also when the owner is full.
      if (entries.has(record.taskId)) throw keyInUse(record.taskId);
      for (const { key } of createOptions.uniqueKeys) {
        const holder = holderOf(key);
        if (holder !== undefined) throw keyInUse(holder.taskId);
      }
      if (record.slotHeld) assertWithinLimits(record, createOptions, selectRecords);
      for (const { key, until } of createOptions.uniqueKeys) uniqueKeys.set(key, { taskId: record.taskId, until });
      return put(
        { ...record, revision: 1 },
        {
          payloads: replacePayloads(new Map(), createOptions.payloads),
          uniqueKeys: createOptions.uniqueKeys.map((key) => ({ ...key })),
        },
      );
    },

    read: async (taskId) => parseEntry(entries.get(taskId)),

    revise: async (record, expectedRevision, reviseOptions = {}) => {
      const entry = entries.get(record.taskId);
      if (entry === undefined) throw recordMissing(record.taskId, "revise");
      if (entry.record.revision !== expectedRevision)
        throw revisionConflict("revise", record.taskId, entry.record.revision, expectedRevision);
      const payloads = entry.payloads;
      if (reviseOptions.dropPayloads === "all") payloads.clear();
      else for (const name of reviseOptions.dropPayloads ?? []) payloads.delete(name);
      return put(
        { ...record, revision: expectedRevision + 1 },
        { payloads: replacePayloads(payloads, reviseOptions.payloads ?? []), uniqueKeys: entry.uniqueKeys },
      );
    },

    remove: async (taskId, expectedRevision) => {
      const entry = entries.get(taskId);
      if (entry !== undefined && expectedRevision !== undefined && entry.record.revision !== expectedRevision)
        throw revisionConflict("remove", taskId, entry.record.revision, expectedRevision);
      entries.delete(taskId);
      for (const key of entry?.uniqueKeys ?? []) releaseKey(taskId, key);
      return entry !== undefined;
    },

    list: async (scope, filter, cursor, limit) => {
      const after = cursor === undefined ? undefined : parseCursor(cursor, scope, filter);
      const found = selectRecords(
        (record) => isListed(record, scope, filter) && (after === undefined || newestFirst(after, record) < 0),
      ).sort(newestFirst);
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const records = page.map(copyOf);
      return found.length > limit && last !== undefined
        ? { records, cursor: createCursor(last, scope, filter) }
        : { records };
    },

    due: async (limit) =>
      selectRecords((record) => record.wakeAt !== null && record.wakeAt <= clock.now())
        .sort((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0))
        .slice(0, limit)
        .map(copyOf),

    nextWakeAt: async () =>
      selectRecords((record) => record.wakeAt !== null).reduce<number | null>(
        (earliest, { wakeAt }) => (earliest === null || (wakeAt ?? 0) < earliest ? wakeAt : earliest),
        null,
      ),

    findByExecution: async (adapterId, by) => {
      const isWanted = (record: TaskRecord): boolean =>
        "ref" in by ? record.ref === by.ref : record.startKey === by.key;
      const found = selectRecords((record) => record.adapterId === adapterId && isWanted(record)).sort(newestFirst)[0];
      return found && copyOf(found);
    },

    putPayload: async (taskId, name, offset, bytes) => {
      const entry = entries.get(taskId);
      if (entry === undefined) throw recordMissing(taskId, "putPayload");
      const before = offset === 0 ? new Uint8Array() : (entry.payloads.get(name) ?? new Uint8Array());
      if (!isCount(offset) || offset > before.length) {
        throw new BridgeError(
          "invalid_input",
          `cannot write at ${offset} of payload ${name}, which has ${before.length} bytes`,
          {
            operation: "putPayload",
          },
        );
      }
      const after = new Uint8Array(Math.max(before.length, offset + bytes.length));
      after.set(before);
      after.set(bytes, offset);
      entry.payloads.set(name, after);
    },

    readPayload: async (taskId, name, range) => {
      assertRange(range);
      const payload = entries.get(taskId)?.payloads.get(name);
      return payload && { bytes: payload.slice(range.offset, range.offset + range.length), totalBytes: payload.length };
    },

    values: {
      read: async (name) => values.get(name),
      write: async (name, value, previous) => {
        assertValue(name, value);
        if (values.get(name) !== previous) return false;
        values.set(name, value);
        return true;
      },
    },

    lease: async (name, ttlMs): Promise<Lease | undefined> => {
      const holder = randomUUID();
      const isFree = (): boolean => (leases.get(name)?.until ?? 0) <= clock.now();
      const isOurs = (): boolean => leases.get(name)?.holder === holder;
      const extend = (): void => {
        leases.set(name, { holder, until: clock.now() + ttlMs });
      };
      if (!isFree()) return undefined;
      extend();
      return {
        renew: async () => {
          if (!isOurs() || isFree()) return false;
          extend();
          return true;
        },
        release: async () => {
          if (isOurs()) leases.delete(name);
        },
      };
    },

    close: async () => {
      for (const map of [entries, uniqueKeys, values, leases]) map.clear();
    },
  };
};

const copyOf = (record: TaskRecord): TaskRecord => JSON.parse(JSON.stringify(record));
const parseEntry = (entry: Entry | undefined): TaskRecord | undefined => entry && JSON.parse(entry.text);

const replacePayloads = (
  payloads: Map<PayloadName, Uint8Array>,
  written: readonly Payload[],
): Map<PayloadName, Uint8Array> => {
  // A plain Uint8Array also when a Buffer came, whose slice() would share memory.
  for (const { name, bytes } of written) payloads.set(name, new Uint8Array(bytes));
  return payloads;
};

const newestFirst = (a: ListPosition, b: ListPosition): number =>
  b.createdAt - a.createdAt || (a.taskId === b.taskId ? 0 : a.taskId < b.taskId ? 1 : -1);

const isListed = (record: TaskRecord, scope: ListScope, filter: ListFilter): boolean =>
  ("operator" in scope || record.owner === scope.owner) &&
  (filter.adapterId === undefined || record.adapterId === filter.adapterId) &&
  (filter.tool === undefined || record.tool === filter.tool) &&
  (filter.slotHeld === undefined || record.slotHeld === filter.slotHeld) &&
  (filter.includeExpired === true || record.expired !== true);

const assertWithinLimits = (
  record: Omit<TaskRecord, "revision">,
  { maxOpenForOwner, maxOpenForTool }: CreateOptions,
  selectRecords: (matches: (record: TaskRecord) => boolean) => TaskRecord[],
): void => {
  const scopes = [
    { scope: "owner", max: maxOpenForOwner, counts: (other: TaskRecord) => other.owner === record.owner },
    { scope: "tool", max: maxOpenForTool, counts: (other: TaskRecord) => other.tool === record.tool },
  ];
  for (const { scope, max, counts } of scopes) {
    if (max === null) continue;
    const open = selectRecords((other) => other.slotHeld && counts(other)).sort(newestFirst);
    if (open.length < max) continue;
    // Only the caller's own: an ID is somebody else's business, and without owners it is what grants access. Nor one that
    // no verb takes any more.
    const own = open.filter((other) => other.owner !== null && other.owner === record.owner && other.expired !== true);
    throw new BridgeError("limit_exceeded", `the ${scope} has ${open.length} open tasks of at most ${max}`, {
      operation: "create",
      data: { scope, openTaskIds: own.slice(0, maxNamedTasks).map((other) => other.taskId) },
    });
  }
};

const keyInUse = (taskId: TaskId): BridgeError =>
  new BridgeError("conflict", `taken by task ${taskId}`, { operation: "create", data: { taskId } });

const recordMissing = (taskId: TaskId, operation: string): BridgeError =>
  new BridgeError("not_found", `there is no task ${taskId}`, { operation });

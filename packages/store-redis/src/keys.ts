import { createHash } from "node:crypto";
import type { AdapterId, ExecutionRef, OwnerId, StartKey, TaskId, TaskRecord } from "@taskbridge/core/store";
import { toName } from "./to-name.ts";

/** The two hex digits of each shard. */
export const shards: readonly string[] = Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, "0"));

/** By what an execution is found. */
export type ExecutionKey = { readonly ref: ExecutionRef } | { readonly key: StartKey };

/**
 * The names of all that is kept. What stands in braces decides on the node of a Redis Cluster: one of 256 shards by a hash of the
 * task's ID, or of the owner, the tool, the key, … for what is looked up by those.
 */
export interface Keys {
  /** The record of a task. */
  record(taskId: TaskId): string;
  /** What else the record's shard keeps, in the order in which the scripts take it. */
  shardOf(taskId: TaskId): ShardKeys;
  shard(shard: string): ShardKeys;
  /** Names of payloads beside `input` and `output`. */
  payloadNames(taskId: TaskId): string;
  /** What the key of a payload begins with; its name follows. */
  payloads(taskId: TaskId): string;
  /** Entries of all of an owner's records. */
  owned(owner: OwnerId | null): string;
  /** Entries of the owner's records that hold a slot. */
  openOfOwner(owner: OwnerId | null): string;
  openOfTool(tool: string): string;
  execution(adapterId: AdapterId, by: ExecutionKey): string;
  unique(key: string): string;
  /** The keys that lapse, of that key's shard. */
  lapsing(key: string): string;
  value(name: string): string;
  lease(name: string): string;
  /** By shard: a time that is not after its earliest wake-up. */
  readonly wakeHints: string;
  readonly schema: string;
  /** Never written: its node's clock is the store's. */
  readonly clock: string;
  /** Where changes are told. */
  readonly channel: string;
}

/** Sorted sets of one shard. */
export interface ShardKeys {
  /** The shard's hex digits. */
  readonly id: string;
  /** Entries of all records. */
  readonly all: string;
  /** Entries of those that hold a slot. */
  readonly open: string;
  /** Task IDs by `wakeAt`. */
  readonly due: string;
  /** Task IDs that were handed out, by when that ends. */
  readonly claims: string;
  /** Attempts that must write nothing any more, by when that was decided. */
  readonly aborted: string;
  /** Unique keys by when they lapse. */
  readonly lapsing: string;
  /** IDs of tasks that were removed, by until when they stay taken. */
  readonly removed: string;
}

const hashOf = (text: string): Buffer => createHash("sha1").update(text).digest();

const shardIdOf = (text: string): string => shards[hashOf(text)[0] ?? 0] as string;

/** Indexes in other shards in which a record stands: always at these places, absent where it has none. */
export type IndexKeys = readonly (string | undefined)[];

export const indexKeysOf = (keys: Keys, record: Omit<TaskRecord, "revision">): IndexKeys => [
  keys.owned(record.owner),
  record.slotHeld ? keys.openOfOwner(record.owner) : undefined,
  record.slotHeld ? keys.openOfTool(record.tool) : undefined,
  keys.execution(record.adapterId, { key: record.startKey }),
  record.ref === undefined ? undefined : keys.execution(record.adapterId, { ref: record.ref }),
];

/** Keys of what lies in a record's own slot, in the order in which the scripts that write it take them. */
export const keysInSlot = (keys: Keys, taskId: TaskId): readonly string[] => {
  const { all, open, due, claims, aborted, removed } = keys.shardOf(taskId);
  return [keys.record(taskId), all, open, due, claims, aborted, keys.payloadNames(taskId), removed];
};

export const createKeys = (prefix: string): Keys => {
  const inShard = (shard: string): string => `${prefix}{${shard}}`;
  const at = (text: string): string => inShard(shardIdOf(text));
  /** In the shard of a name. */
  const named = (kind: string, text: string): string => `${at(toName(text))}${kind}:${toName(text)}`;
  const ownerText = (owner: OwnerId | null): string => (owner === null ? "nobody" : `owner:${owner}`);
  const shard = (id: string): ShardKeys => ({
    id,
    all: `${inShard(id)}all`,
    open: `${inShard(id)}open`,
    due: `${inShard(id)}due`,
    claims: `${inShard(id)}claims`,
    aborted: `${inShard(id)}aborted`,
    lapsing: `${inShard(id)}lapsing`,
    removed: `${inShard(id)}removed`,
  });
  const known = new Map(shards.map((id) => [id, shard(id)]));
  const knownShard = (id: string): ShardKeys => known.get(id) ?? shard(id);

  return {
    record: (taskId) => named("task", taskId),
    shardOf: (taskId) => knownShard(shardIdOf(toName(taskId))),
    shard: knownShard,
    payloadNames: (taskId) => named("names", taskId),
    // The length tells where the ID ends, whatever it holds.
    payloads: (taskId) => `${at(toName(taskId))}payload:${toName(taskId).length}:${toName(taskId)}:`,
    owned: (owner) => named("owned", ownerText(owner)),
    openOfOwner: (owner) => named("open", ownerText(owner)),
    openOfTool: (tool) => named("open-tool", tool),
    execution: (adapterId, by) => {
      // Refs may be long. Whether a record that is found is meant is seen by the record.
      const digest = hashOf(JSON.stringify("ref" in by ? [adapterId, "ref", by.ref] : [adapterId, "key", by.key]));
      return `${inShard(shards[digest[0] ?? 0] as string)}execution:${digest.toString("base64url")}`;
    },
    unique: (key) => named("unique", key),
    lapsing: (key) => knownShard(shardIdOf(toName(key))).lapsing,
    value: (name) => named("value", name),
    lease: (name) => named("lease", name),
    wakeHints: `${prefix}{meta}wake`,
    schema: `${prefix}{meta}schema`,
    clock: `${prefix}{meta}clock`,
    channel: `${prefix}changes`,
  };
};

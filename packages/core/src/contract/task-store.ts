import type { AdapterId, ExecutionRef, OwnerId, StartKey, TaskId } from "./identity.ts";
import type { JsonObject } from "./json-value.ts";
import type { PayloadName, TaskRecord } from "./task-record.ts";

/** A name that only one task may hold, such as a client-minted ID or a folded call. */
export interface UniqueKey {
  readonly key: string;
  /** Epoch milliseconds until which it stays taken, whatever becomes of the record. Absent: as long as the record exists. */
  readonly until?: number;
  /** Milliseconds for which it stays taken, still naming the task, after the record is removed. With `until`: the later of both counts. */
  readonly heldForMs?: number;
}

/** What a create demands and brings along. */
export interface CreateOptions {
  /** Names to take for the task, all or none. */
  readonly uniqueKeys: readonly UniqueKey[];
  /** The most records with `slotHeld` that the owner (or, for null, all callers without one) may have, this one included. Null: no limit. */
  readonly maxOpenForOwner: number | null;
  /** Likewise for the tool, over all owners. */
  readonly maxOpenForTool: number | null;
  /** Payloads written in the same transaction. */
  readonly payloads: readonly Payload[];
}

/** Bytes kept beside a record, by name. */
export interface Payload {
  readonly name: PayloadName;
  readonly bytes: Uint8Array;
}

/** What a revision does beside replacing the record. */
export interface ReviseOptions {
  /** Written in the same transaction, replacing what was there. */
  readonly payloads?: readonly Payload[];
  /** Deleted in the same transaction, before `payloads` are written. */
  readonly dropPayloads?: readonly PayloadName[] | "all";
  /** False: a crash of the machine may lose this revision (the record falls back to the one before). Default true. */
  readonly durable?: boolean;
}

/** Which records a caller may see: an owner's (null: those without one), or all of them for the operator. */
export type ListScope = { readonly owner: OwnerId | null } | { readonly operator: true };

/** Which of the visible records to list; all members must match. */
export interface ListFilter {
  readonly adapterId?: AdapterId;
  readonly tool?: string;
  /** Only records that hold (or do not hold) a slot. */
  readonly slotHeld?: boolean;
  /** Also records marked `expired`. Default false. */
  readonly includeExpired?: boolean;
}

/** Some of a listing's records. */
export interface ListPage {
  /** Newest first, by `createdAt`, then by ID. */
  readonly records: readonly TaskRecord[];
  /** Opaque, for the next page; absent on the last. A foreign or mangled one is `invalid_input`. */
  readonly cursor?: string;
}

/** Part of a payload. Whole numbers from 0; anything else is `invalid_input`. */
export interface PayloadRange {
  /** Bytes from the start. */
  readonly offset: number;
  /** At most this many bytes. */
  readonly length: number;
}

/** What a range holds. */
export interface PayloadChunk {
  /** Shorter than asked at the end. */
  readonly bytes: Uint8Array;
  readonly totalBytes: number;
}

/** The right to be the only one that does a piece of work, for a while. Saves cost; correctness never rests on it. */
export interface Lease {
  /** Extends it by its full time. False once it was lost, which it also is when its time lapsed and nobody took it. */
  renew(): Promise<boolean>;
  /** Gives it back. Idempotent; of a lost one, no effect. */
  release(): Promise<void>;
}

/** The most bytes of UTF-8 that a value may have. */
export const maxValueBytes = 1_048_576;

/** Small texts that servers keep next to the tasks, by name: their keys, positions in event streams, messages between replicas. */
export interface StoredValues {
  /** The value that is kept under this name; undefined when none is. A name may be any text. One indexed read. */
  read(name: string): Promise<string | undefined>;
  /**
   * Writes a value if the value that is kept is still `previous` (undefined: none is kept). Resolves with false, and writes nothing,
   * when another value is kept. Rejects with `invalid_input` when `value` is longer than `maxValueBytes`.
   */
  write(name: string, value: string, previous: string | undefined, options?: WriteValueOptions): Promise<boolean>;
}

export interface WriteValueOptions {
  /**
   * False: a crash of the machine may bring an earlier value back. It never keeps this value and loses a write that resolved before
   * this one. Default true: the value is on disk when the write resolves, as a record is.
   */
  readonly durable?: boolean;
}

/** What a store tells of itself to whoever operates it. Never a password. */
export interface StoreDescription {
  /** What it is, and its version where it tells one: `PostgreSQL 16.4`, `Redis 7.2.5`. */
  readonly kind: string;
  /** Where it is: host and port, all that are known of a cluster, or a file. */
  readonly location: string;
  /** Of a server that has several: a name or number. */
  readonly database?: string;
  /** What keeps its records apart from others' in the same place, such as `schema taskbridge` or `prefix taskbridge:`. */
  readonly namespace?: string;
  /** What decides which acknowledged writes last, by the store's own names: `synchronous_commit = on, fsync = on`. Absent: it does not tell. */
  readonly durability?: string;
  /** What its operator should mend, such as settings by which acknowledged writes are lost: one sentence. */
  readonly warning?: string;
}

/** How long a removed ID stays taken in a store that is `shared` (milliseconds by its clock). */
export const removedIdReservedMs = 30_000;

/** The longest that a create may be under way in such a store (milliseconds), with room to spare for clocks that are put right. */
export const maxCreateMs = 20_000;

/**
 * Where records live. Every write is atomic and, unless said otherwise, durable when it resolves. Errors: `conflict` (a
 * revision or a unique key), `limit_exceeded`, `not_found`, `unavailable` (locked, full, unreachable, or too slow; a write
 * may have taken effect nevertheless), `misconfigured` (a foreign or newer schema). A store never blocks the event loop on a lock.
 */
export interface TaskStore {
  /** Version of this contract. */
  readonly contract: 1;
  /** True when processes on other hosts can open the same store. */
  readonly shared: boolean;
  /** Epoch milliseconds by the store's clock, which all its users share; a networked store keeps in step with its server's. */
  now(): number;
  /**
   * Adds a record with revision 1. Rejects with `conflict` (`data.taskId` of the holder) when a unique key is taken, and
   * then with `limit_exceeded` (`data.scope`, and in `data.openTaskIds` at most a hundred of the owner's own that have not
   * expired) when owner or tool is full; nothing was written then. An ID that exists is a taken key too. A record without `slotHeld` is never refused for a limit.
   *
   * In a `shared` store an ID that was removed is one as well, for `removedIdReservedMs`: what has been sent to a server may arrive
   * after calls that were made later. The task of a create whose answer was lost, and which was repeated, may have come and gone
   * when the first arrives, and would begin anew. So such a store carries out no create that comes later than `maxCreateMs` after its call.
   * Any other must carry out no call once it has answered it, also with `unavailable`; then it has no need to keep such IDs.
   */
  create(record: Omit<TaskRecord, "revision">, options: CreateOptions): Promise<TaskRecord>;
  /** One indexed read. */
  read(taskId: TaskId): Promise<TaskRecord | undefined>;
  /** Replaces the record if its stored revision is `expectedRevision`, else rejects with `conflict`; `not_found` when removed. */
  revise(record: TaskRecord, expectedRevision: number, options?: ReviseOptions): Promise<TaskRecord>;
  /**
   * Removes record and payloads; resolves with whether there was one. Idempotent. Unique keys with `until` in the future or with
   * `heldForMs` stay taken, in the same write, and so does the ID in a store that is `shared`: see `create`. With `expectedRevision` it
   * removes that revision only: rejects with `conflict` when the record is at another, and then has changed nothing. Calls at the same
   * time may share one write, and then one failure of it.
   */
  remove(taskId: TaskId, expectedRevision?: number): Promise<boolean>;
  /** At most `limit` records, from the beginning or from where `cursor` (of the same scope and filter) left off. Read only. */
  list(scope: ListScope, filter: ListFilter, cursor: string | undefined, limit: number): Promise<ListPage>;
  /**
   * Records whose `wakeAt` is not after now, earliest first. With `claimForMs`, each of them is handed to one caller only: those
   * of others pass it over until that time is up, or the record is revised. Saves cost; correctness never rests on it, and
   * a store that is not `shared` may ignore it.
   */
  due(limit: number, claimForMs?: number): Promise<readonly TaskRecord[]>;
  /** The earliest `wakeAt` of all, past or future, claimed or not; null when no record has one. */
  nextWakeAt(): Promise<number | null>;
  /** The newest record of that adapter with this ref or start key. One indexed read. */
  findByExecution(
    adapterId: AdapterId,
    by: { readonly ref: ExecutionRef } | { readonly key: StartKey },
  ): Promise<TaskRecord | undefined>;
  /**
   * Writes bytes at an offset of a payload, which grows; a write at offset 0 replaces it, one beyond the end is
   * `invalid_input`. Repeating a write is harmless. Durable with the next durable `revise` of the record, so that a large
   * payload costs one sync and not one for each piece. `not_found` without the record.
   */
  putPayload(taskId: TaskId, name: PayloadName, offset: number, bytes: Uint8Array): Promise<void>;
  /** Undefined when there is no such payload. */
  readPayload(taskId: TaskId, name: PayloadName, range: PayloadRange): Promise<PayloadChunk | undefined>;
  /** Small texts next to the tasks. */
  readonly values: StoredValues;
  /** Takes the lease of this name for `ttlMs`. Undefined while someone else holds it. */
  lease(name: string, ttlMs: number): Promise<Lease | undefined>;
  /**
   * Tells, soon and not necessarily each time, which records other processes have changed; undefined where that may have
   * been missed for a while, so that any may have. Returns how to stop.
   */
  watch?(listener: (taskId: TaskId | undefined) => void): () => void;
  /** For operators, asked anew each time. */
  describe?(): Promise<StoreDescription>;
  /**
   * Reads and durably writes where the tasks are, and changes no task. Resolves when both have worked. Rejects as other verbs do, so that
   * a full disk, a database that is read-only and a missing replica are found before a task is lost. Costs one read and one durable write.
   */
  probe?(): Promise<void>;
  /** Releases what the store holds open. Idempotent; any other call afterwards may reject with `unavailable`. */
  close(): Promise<void>;
}

/** What a store package's factory gets beside the configured text. */
export interface StoreEnvironment {
  /** What relative paths are relative to. */
  readonly baseDirectory: string;
  /** What else the configuration says of the store; one that the package does not know is `misconfigured`. */
  readonly options?: JsonObject;
}

/** The factory that a store package exports for configuration files. `url` is the configured text. */
export type CreateStore = (url: string, environment: StoreEnvironment) => Promise<TaskStore>;

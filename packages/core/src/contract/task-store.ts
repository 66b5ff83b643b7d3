import type { AdapterId, ExecutionRef, OwnerId, StartKey, TaskId } from "./identity.ts";
import type { JsonObject } from "./json-value.ts";
import type { PayloadName, TaskRecord } from "./task-record.ts";

/** A name that only one task may have, such as an ID that a client minted or the name of a deduplicated call. */
export interface UniqueKey {
  readonly key: string;
  /** The key stays reserved until this instant (epoch milliseconds), even if the record is removed. Absent: while the record exists. */
  readonly until?: number;
  /** The key stays reserved for this long after the record is removed (milliseconds), and still names the task. With `until`: the later one. */
  readonly heldForMs?: number;
}

/** What a create requires, and what it writes next to the record. */
export interface CreateOptions {
  /** Names to reserve for the task: all of them or none. */
  readonly uniqueKeys: readonly UniqueKey[];
  /**
   * The most records with `slotHeld` that the owner may have, this one included. Callers without an owner count together. Null: no limit.
   */
  readonly maxOpenForOwner: number | null;
  /** The most records with `slotHeld` that the tool may have, over all owners. Null: no limit. */
  readonly maxOpenForTool: number | null;
  /** Payloads written in the same transaction. */
  readonly payloads: readonly Payload[];
}

/** Bytes that are kept next to a record, by name. */
export interface Payload {
  readonly name: PayloadName;
  readonly bytes: Uint8Array;
}

/** What a revision does in addition to replacing the record. */
export interface ReviseOptions {
  /** Written in the same transaction. A payload of the same name is replaced. */
  readonly payloads?: readonly Payload[];
  /** Names of payloads that the same transaction deletes before it writes `payloads`. */
  readonly dropPayloads?: readonly PayloadName[] | "all";
  /** False: a crash of the machine may lose this revision (the record falls back to the one before). Default true. */
  readonly durable?: boolean;
}

/** Which records a caller may see: those of an owner (null: those without an owner), or all records for the operator. */
export type ListScope = { readonly owner: OwnerId | null } | { readonly operator: true };

/** Which of the visible records to list. A record must match all members. */
export interface ListFilter {
  readonly adapterId?: AdapterId;
  readonly tool?: string;
  /** True: only records that hold a slot. False: only records that hold none. */
  readonly slotHeld?: boolean;
  /** True: also records that are marked `expired`. Default false. */
  readonly includeExpired?: boolean;
}

/** One page of a listing. */
export interface ListPage {
  /** Newest first, by `createdAt`, then by ID. */
  readonly records: readonly TaskRecord[];
  /** An opaque text that leads to the next page. Absent on the last page. A damaged cursor, or one of another listing, is refused as `invalid_input`. */
  readonly cursor?: string;
}

/** Part of a payload. Both numbers are whole and at least 0; anything else is refused as `invalid_input`. */
export interface PayloadRange {
  /** Bytes from the start. */
  readonly offset: number;
  /** At most this many bytes. */
  readonly length: number;
}

/** The bytes of a range. */
export interface PayloadChunk {
  /** Shorter than requested at the end of the payload. */
  readonly bytes: Uint8Array;
  readonly totalBytes: number;
}

/** The right to be the only process that does a piece of work, for a while. A lease saves cost; nothing may be wrong if two processes hold it. */
export interface Lease {
  /** Extends the lease by its full time. Resolves with false once the lease was lost, also when it expired and no other process acquired it. */
  renew(): Promise<boolean>;
  /** Releases the lease. Idempotent. No effect on a lease that was lost. */
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

/** What a store reports about itself to its operator. It never contains a password. */
export interface StoreDescription {
  /** The product, and its version if the store reports one: `PostgreSQL 16.4`, `Redis 7.2.5`. */
  readonly kind: string;
  /** Host and port, all known hosts of a cluster, or the path of a file. */
  readonly location: string;
  /** The name or number of the database, if the server has several. */
  readonly database?: string;
  /** What separates this store from others in the same database, such as `schema taskbridge` or `prefix taskbridge:`. */
  readonly namespace?: string;
  /** The settings that decide which acknowledged writes survive a crash: `synchronous_commit = on, fsync = on`. Absent: unknown. */
  readonly durability?: string;
  /** One sentence about what the operator should change, such as a setting that loses acknowledged writes. */
  readonly warning?: string;
}

/** How long a removed ID stays reserved in a `shared` store (milliseconds by the store's clock). */
export const removedIdReservedMs = 30_000;

/**
 * A `shared` store refuses a create that arrives later than this after its call (milliseconds). It is shorter than `removedIdReservedMs`, so
 * that a clock that is corrected in between does no harm.
 */
export const maxCreateMs = 20_000;

/**
 * Where records live. Every write is atomic. A write is durable when it resolves, unless its own text says otherwise. Errors: `conflict` (a
 * revision or a unique key), `limit_exceeded`, `not_found`, `unavailable` (the store is locked, full, unreachable or too slow; the write may
 * have taken effect nevertheless), `misconfigured` (the schema is foreign, earlier or newer). A store never blocks the event loop on a lock.
 */
export interface TaskStore {
  /** Version of this contract. */
  readonly contract: 1;
  /** True when processes on other hosts can open the same store. */
  readonly shared: boolean;
  /** Epoch milliseconds by the store's clock, which all processes on the store share: the clock of the database server, if there is one. */
  now(): number;
  /**
   * Adds a record with revision 1. Rejects with `conflict` when a unique key or the ID is in use; `data.taskId` names the task that has it.
   * Otherwise rejects with `limit_exceeded` when the owner or the tool is full; `data.scope` says which, and `data.openTaskIds` lists at most
   * a hundred tasks of the owner that have not expired. A rejected create has written nothing. A record without `slotHeld` is never refused
   * for a limit.
   *
   * In a `shared` store a removed ID stays in use for `removedIdReservedMs`. The reason: a request may arrive at the database after requests
   * that were sent later. If the answer to a create is lost and the create is repeated, the task may have ended and been removed when the
   * first request arrives, and the first request would create the task again. For the same reason a `shared` store refuses a create that
   * arrives later than `maxCreateMs` after its call. A store that is not `shared` needs neither, because it never carries out a call that it
   * has already answered, not even one that it answered with `unavailable`.
   */
  create(record: Omit<TaskRecord, "revision">, options: CreateOptions): Promise<TaskRecord>;
  /** One indexed read. */
  read(taskId: TaskId): Promise<TaskRecord | undefined>;
  /** Replaces the record if its stored revision is `expectedRevision`. Otherwise rejects with `conflict`, or with `not_found` if it was removed. */
  revise(record: TaskRecord, expectedRevision: number, options?: ReviseOptions): Promise<TaskRecord>;
  /**
   * Removes the record and its payloads. Resolves with whether there was a record. Idempotent. Unique keys with `until` in the future or with
   * `heldForMs` stay reserved, by the same write, and in a `shared` store so does the ID (see `create`). With `expectedRevision` the call
   * removes only that revision, and otherwise rejects with `conflict` and changes nothing. Concurrent calls may share one write; if that
   * write fails, all of them fail.
   */
  remove(taskId: TaskId, expectedRevision?: number): Promise<boolean>;
  /** Lists at most `limit` records, from the beginning or from the position of `cursor`, which must be of the same scope and filter. */
  list(scope: ListScope, filter: ListFilter, cursor: string | undefined, limit: number): Promise<ListPage>;
  /**
   * Lists records whose `wakeAt` has come, the earliest first. With `claimForMs`, only one caller gets each record: the store leaves it out
   * of the answers to other callers for that time, or until the record is revised. A claim saves cost; nothing may be wrong if two callers
   * get one record. A store that is not `shared` may ignore `claimForMs`.
   */
  due(limit: number, claimForMs?: number): Promise<readonly TaskRecord[]>;
  /** The earliest `wakeAt` of all records, past or future, claimed or not. Null: no record has one. */
  nextWakeAt(): Promise<number | null>;
  /** Finds the newest record of the adapter with this reference or start key. One indexed read. */
  findByExecution(
    adapterId: AdapterId,
    by: { readonly ref: ExecutionRef } | { readonly key: StartKey },
  ): Promise<TaskRecord | undefined>;
  /**
   * Writes bytes at an offset of a payload, which grows. A write at offset 0 replaces the payload. A write beyond the end is refused as
   * `invalid_input`, and a write without the record as `not_found`. A repeated write does no harm. The bytes become durable with the next
   * durable `revise` of the record, so that a large payload costs one sync to disk instead of one for each piece.
   */
  putPayload(taskId: TaskId, name: PayloadName, offset: number, bytes: Uint8Array): Promise<void>;
  /** Reads part of a payload. Undefined: there is no such payload. */
  readPayload(taskId: TaskId, name: PayloadName, range: PayloadRange): Promise<PayloadChunk | undefined>;
  /** Small texts next to the tasks. */
  readonly values: StoredValues;
  /** Acquires the lease of this name for `ttlMs`. Undefined: another process holds it. */
  lease(name: string, ttlMs: number): Promise<Lease | undefined>;
  /**
   * Calls `listener` soon after other processes have changed a record. Several changes of one record may cause one call. A call with
   * undefined says that changes may have been missed, so that any record may have changed. Returns a function that ends the calls.
   */
  watch?(listener: (taskId: TaskId | undefined) => void): () => void;
  /** Describes the store for its operator. Each call asks the store anew. */
  describe?(): Promise<StoreDescription>;
  /**
   * Reads and durably writes where the tasks are, and changes no task. Resolves when both have worked. Rejects as other verbs do, so that
   * a full disk, a database that is read-only and a missing replica are found before a task is lost. Costs one read and one durable write.
   */
  probe?(): Promise<void>;
  /** Closes connections and files. Idempotent. Other calls afterwards may reject with `unavailable`. */
  close(): Promise<void>;
}

/** What the factory of a store package gets in addition to the configured URL. */
export interface StoreEnvironment {
  /** The folder where relative paths start. */
  readonly baseDirectory: string;
  /** Further options from the configuration. The package refuses an unknown option as `misconfigured`. */
  readonly options?: JsonObject;
}

/** The factory that a store package exports for configuration files. */
export type CreateStore = (url: string, environment: StoreEnvironment) => Promise<TaskStore>;

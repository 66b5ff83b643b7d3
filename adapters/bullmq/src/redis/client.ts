import type { JobLocation } from "../execution-ref.ts";

/**
 * Where BullMQ has a job: `waiting` is also a prioritized one, `missing` one that is not there, `gone` one that we removed.
 * `unlisted`: its data are there, but it is in no list and no set of the queue, so that nobody will come to it.
 */
export type JobState =
  | "waiting"
  | "unlisted"
  | "delayed"
  | "active"
  | "waiting-children"
  | "completed"
  | "failed"
  | "gone"
  | "missing";

/** A job as it is in Redis: texts are as BullMQ has written them. Times are epoch milliseconds. */
export interface JobRow {
  readonly state: JobState;
  readonly name?: string;
  /** JSON. */
  readonly opts?: string;
  readonly processedOn?: number;
  readonly finishedOn?: number;
  readonly attemptsMade: number;
  readonly failedReason?: string;
  /** Why it was asked to stop. */
  readonly cancelReason?: string;
  /** Why we removed it. */
  readonly goneReason?: string;
  /** What the worker helper asks: JSON. */
  readonly question?: string;
  /** ID of the question that was answered last. */
  readonly answered?: string;
  /** JSON; in place of what is too long, a text that says so. */
  readonly progress?: string;
  /** A JSON list, newest last, unless it is too long. */
  readonly stacktrace?: string;
  /** JSON as a rule, unless it is too long. */
  readonly returnvalue?: string;
  readonly returnBytes: number;
  /** When a delayed job may be taken. */
  readonly dueAt?: number;
  readonly children: { readonly done: number; readonly failed: number; readonly pending: number };
  /** `prefix:queue:id` of each, when there are not too many; asked for with detail only. */
  readonly childKeys: readonly string[];
}

/** What one read of a queue gives. */
export interface QueueRead {
  /** Somebody has used this queue under this prefix. */
  readonly exists: boolean;
  readonly isPaused: boolean;
  /** In the order of the request. */
  readonly rows: readonly JobRow[];
}

/** An entry of a queue's event stream. */
export interface QueueEvent {
  /** `<epoch milliseconds>-<n>`. */
  readonly eventId: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The end of a job, as the event stream has kept it. */
export interface KeptEnd {
  readonly eventId: string;
  readonly event: "completed" | "failed" | "removed";
  /** The result's JSON, the reason, or the state it was removed from. */
  readonly text: string;
}

/** So long a read of events waits for one (milliseconds). */
export const blockMs = 5_000;

/** Reads one queue's events on a connection of its own. */
export interface EventReader {
  /** Waits for events after that one, at most `blockMs`; none came when there are none. */
  read(after: string, count: number): Promise<readonly QueueEvent[]>;
  close(): void;
}

/** What a job was added with. */
export interface JobSample {
  readonly id: string;
  readonly name: string;
  /** As BullMQ decodes them. */
  readonly opts: Readonly<Record<string, unknown>>;
  /** Made by a job scheduler. */
  readonly isRepeated: boolean;
}

/** A wish to stop a job. */
export interface Cancel {
  readonly reason: string;
  /** It stands for a task: of such a one word is left under its ID. */
  readonly isOurs: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** One queue, on a connection that was ready a moment ago. Nothing here waits for a lost connection. */
export interface QueuePort {
  readonly prefix: string;
  readonly name: string;
  /** Adds a job, or not if there is one of that ID. Resolves with the ID of the job that is there now, which deduplication may have chosen. */
  add(id: string, name: string, data: unknown, options: Readonly<Record<string, unknown>>): Promise<string>;
  /** Log and children are read of those in `detailed` only. */
  read(ids: readonly string[], detailed?: ReadonlySet<string>): Promise<QueueRead>;
  /**
   * Says that a job is to stop, in one step, and tells whom it was said to. `free`: nobody, it was taken out of its list, and is to
   * be removed. `held`: the worker that has it. `gone`: it is not there. Idempotent.
   */
  markCancelled(
    id: string,
    cancel: Cancel,
  ): Promise<{ readonly state: "gone" | "ended" | "held" | "free"; readonly children: readonly string[] }>;
  /** False when a worker holds it. True also when there is none. */
  remove(id: string): Promise<boolean>;
  /** Removes what `markCancelled` has left outside of the job. */
  forget(id: string): Promise<void>;
  /**
   * Keeps an answer with its job, in one step, if the job still waits for it. `stored`: it is to be promoted. `delivered`: this
   * answer (`answerId`) came before, and the job has gone on. `taken`: there is another answer. `closed`: the question is not open.
   * `missing`: the job is not there. Idempotent.
   */
  storeAnswer(
    id: string,
    questionId: string,
    answerId: string,
    answer: string,
  ): Promise<"stored" | "delivered" | "taken" | "closed" | "missing">;
  /** Lets a delayed job be taken at once. Harmless when it is not delayed. */
  promote(id: string): Promise<void>;
  /** A part of the JSON of a result, in bytes; undefined when there is no result (any more). */
  readResult(
    id: string,
    offset: number,
    length: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly totalBytes: number } | undefined>;
  /** Events from one on backwards to another, both inclusive unless they begin with `(`; `+` is the newest, `-` the oldest. */
  readEventsBack(from: string, to: string, count: number): Promise<readonly QueueEvent[]>;
  /** Redis' clock, which events are stamped by: epoch milliseconds. */
  now(): Promise<number>;
  /** IDs of the oldest and newest event; undefined when there is none. */
  eventSpan(): Promise<{ readonly first: string; readonly last: string } | undefined>;
  /** ID of the newest event that the stream ever had; undefined when there is no stream. */
  lastEventId(): Promise<string | undefined>;
  /** IDs of the jobs that have ended, newest first, so many of each kind. */
  endedIds(count: number): Promise<readonly string[]>;
  /** On a connection of its own, made at the first read; to be closed by the caller. */
  openEvents(): EventReader;
  /** Where a child of one of its jobs is, by the key under which BullMQ has it. */
  locate(jobKey: string): Promise<JobLocation | undefined>;
  countWorkers(): Promise<number>;
  /** The newest jobs, of every state. */
  sample(count: number): Promise<readonly JobSample[]>;
}

/** Facts about the server. */
export interface ServerFacts {
  readonly flavour: string;
  readonly version: string;
  readonly evictionPolicy: string | undefined;
}

/** The few things that this adapter needs of BullMQ and Redis. */
export interface BullmqClient {
  /** For messages: host, port and database, never a password. */
  readonly address: string;
  /**
   * Rejects as soon as an attempt to connect has failed. `parent`: whose child is looked for, on the connection that its queue
   * brings along where the adapter has none.
   */
  open(
    location: Pick<JobLocation, "prefix" | "queue">,
    parent?: Pick<JobLocation, "prefix" | "queue">,
  ): Promise<QueuePort>;
  /** Under which prefix the jobs of a queue of that name are started. */
  prefixOf(queueName: string): string;
  server(): Promise<ServerFacts>;
  /** Names of the queues under a prefix, in no order. */
  listQueues(prefix: string): AsyncIterable<string>;
  close(): Promise<void>;
}

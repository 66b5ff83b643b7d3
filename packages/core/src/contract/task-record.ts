import type { ExecutionChild, ExecutionFailure, ExecutionProgress, ExecutionStatus } from "./execution-snapshot.ts";
import type { AdapterId, ExecutionRef, OwnerId, StartKey, TaskId } from "./identity.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";

/** The state of a task. The same words as an execution's, and like them no wire's; a task that has ended stays so. */
export type TaskState = ExecutionStatus;

/** A question as it is kept in a record. */
export interface TaskQuestion {
  /** What clients see: minted by the engine, never used twice in a task. */
  readonly key: string;
  /** The adapter's identity for it. */
  readonly questionId: string;
  readonly message: string;
  readonly schema?: JsonObject;
  readonly url?: string;
  /** Present when it has a secret: that is the payload `secret:<secretKey>`, kept under the key it was first asked with. */
  readonly secretKey?: string;
  /**
   * `open`: clients may answer. `answered`: the answer waits in the outbox. `closed`: delivered or asked
   * anew; asked again if the backend still asks it a minute after the delivery. `undelivered`: the backend refused the answer; if it still asks, the question is asked again. `withdrawn`: the
   * backend no longer asks it; if it does again, so does the task.
   */
  readonly state: "open" | "answered" | "closed" | "undelivered" | "withdrawn";
  /** Epoch milliseconds. */
  readonly askedAt: number;
  /** Epoch milliseconds after which it is cancelled for want of an answer. */
  readonly expiresAt?: number;
  /** As the adapter gave it: the longest time between two heartbeats (milliseconds). */
  readonly heartbeatMs?: number;
  /** Once its answer was delivered: when (epoch milliseconds). */
  readonly deliveredAt?: number;
  /** How often it has been asked again after a `cancel`. */
  readonly reasks: number;
  /**
   * Only while it is open: who is putting it to a person, where a question reaches one person by one connection, and until
   * when (epoch milliseconds) that holds without being renewed. Anyone may answer nevertheless. Absent: nobody is.
   */
  readonly claim?: { readonly by: string; readonly until: number };
}

interface EffectBase {
  /** Unique in its record. */
  readonly id: string;
  /** Sends so far. */
  readonly attempts: number;
  /** Epoch milliseconds of the next send, or, while one is under way, until when it is left alone. */
  readonly notBefore: number;
  /** The last error, for operators. */
  readonly lastError?: string;
}

/**
 * An entry of the outbox: something the backend must be told. Written with the transition that causes it and taken out
 * once confirmed or hopeless, by whichever process gets there.
 */
export type Effect =
  | (EffectBase & {
      readonly kind: "start";
      /** Beside `lastError`: when that was written down, no send may have arrived. */
      readonly nothingSent?: true;
    })
  /** Stops the execution, whatever the task's own state. */
  | (EffectBase & { readonly kind: "cancel"; readonly reason: string })
  /** The content is the payload `answer:<answerId>`. */
  | (EffectBase & {
      readonly kind: "answer";
      readonly answerId: string;
      readonly questionKey: string;
      readonly action: "accept" | "decline" | "cancel";
    })
  | (EffectBase & { readonly kind: "heartbeat"; readonly questionKey: string; readonly everyMs: number })
  /** Fetches a large output into a payload, then ends the task. */
  | (EffectBase & { readonly kind: "capture"; readonly mediaType: OutputMediaType })
  /** Releases what the backend keeps, then removes the record. */
  | (EffectBase & { readonly kind: "forget" });

/** What is known of the sends that should start the execution. */
export interface StartProgress {
  /** Epoch milliseconds of the first send that may have arrived. Absent: none may have. */
  readonly firstSentAt?: number;
  /** Epoch milliseconds of the last such send. */
  readonly lastSentAt?: number;
  /** When the last such send was over, as its sender told (epoch milliseconds). Absent: it may be under way, or was killed. */
  readonly lastOverAt?: number;
  /** Epoch milliseconds after which no further send is tried. */
  readonly deadlineAt: number;
  /** Why none is tried any more. What may have arrived is looked for; the task fails only if that is not found. */
  readonly givenUp?: string;
}

/** What an output is read as. */
export type OutputMediaType = "application/json" | "text/plain";

/** The settings of the tool at the moment of the call: an edited configuration never changes a task under way. */
export interface FrozenPolicy {
  /** The least time between two looks at the execution (milliseconds), which clients are advised to keep too. */
  readonly pollIntervalMs: number;
  /** How long the result is kept after the end (milliseconds). */
  readonly retentionMs: number;
  /** The execution is stopped and the task fails when it has run this long (milliseconds). Null: never. */
  readonly maxRunMs: number | null;
  /** A question that nobody answers is cancelled after this long (milliseconds). Null: never. */
  readonly questionTimeoutMs: number | null;
  /**
   * When a start may have arrived and the backend cannot tell: `fail` ends the task; `restart` sends it again, so that the
   * pipeline may run twice.
   */
  readonly onUnknownStart: "fail" | "restart";
}

/**
 * The durable mapping of one task to one execution, at most 16 KiB. Immutable: a change is a new record with the same
 * ID. All instants are epoch milliseconds by the store's clock. Members that this version does not know are preserved.
 */
export interface TaskRecord {
  readonly schema: 1;
  readonly taskId: TaskId;
  /** Set by the store: 1 when created, one more with each `revise`. */
  readonly revision: number;
  /** Null: a server without owners, where the ID alone grants access. */
  readonly owner: OwnerId | null;
  /** Whose call it was, in the words of the wire that took it in, as `CreateTask.origin`. Absent: nobody said. */
  readonly origin?: string;
  readonly tool: string;
  readonly adapterId: AdapterId;
  /** As configured at the moment of the call, templates unfilled. */
  readonly target: JsonValue;
  readonly startKey: StartKey;
  readonly policy: FrozenPolicy;
  readonly state: TaskState;
  /** One line for a person about the present state. */
  readonly message?: string;
  readonly createdAt: number;
  /** Moves only when something visible changed. */
  readonly updatedAt: number;
  /** When it was first seen to run, to wait for an answer, or to have run; absent while nothing says that it has begun. Never moves. */
  readonly begunAt?: number;
  readonly endedAt?: number;
  /** Absent while the task runs. */
  readonly expiresAt?: number;
  /** True once `expiresAt` has passed: payloads are gone and every verb answers that it has expired. */
  readonly expired?: boolean;
  /** With `expired`: its owner deleted it, so that every verb answers as if there were no such task. */
  readonly deleted?: boolean;
  readonly start: StartProgress;
  /** Absent until the backend has accepted the start. */
  readonly ref?: ExecutionRef;
  /** The last state seen at the backend; after the task's own end it goes on being told for operators. */
  readonly execution?: {
    readonly status: ExecutionStatus;
    readonly progress?: ExecutionProgress;
    readonly url?: string;
    readonly startedAt?: number;
    readonly endedAt?: number;
    readonly expectedEndAt?: number;
    readonly children?: readonly ExecutionChild[];
  };
  readonly questions: readonly TaskQuestion[];
  readonly effects: readonly Effect[];
  /** Counter from which question keys and effect IDs are minted. */
  readonly minted: number;
  /** That a caller asked for a stop. `isFinal`: the task became `cancelled` at once, as some wires demand, while the backend is still being told. */
  readonly cancel?: {
    readonly requestedAt: number;
    readonly reason: string;
    readonly isFinal: boolean;
    /** When the backend confirmed that it was told. */
    readonly deliveredAt?: number;
  };
  /** With `succeeded`: what the payload `output` holds, or the payload named here. */
  readonly output?: { readonly mediaType: OutputMediaType; readonly bytes: number; readonly payload?: PayloadName };
  /** With `failed`. */
  readonly failure?: ExecutionFailure;
  /** Since when the backend does not know the execution, unproven. */
  readonly missingSince?: number;
  /** True until the backend has really ended: it counts against the limits, and the execution is still looked at. */
  readonly slotHeld: boolean;
  /** When the engine must next act on this record by itself; null: never. */
  readonly wakeAt: number | null;
}

/** Names of the payloads beside a record. Each attempt to fetch an output writes to one of its own, `output:<attempt>`. */
export type PayloadName = "input" | "output" | `output:${string}` | `secret:${string}` | `answer:${string}`;

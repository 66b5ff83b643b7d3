import type { ExecutionChild, ExecutionFailure, ExecutionProgress, ExecutionStatus } from "./execution-snapshot.ts";
import type { AdapterId, ExecutionRef, OwnerId, StartKey, TaskId } from "./identity.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";

/** The state of a task, in the words for executions, which are not those of any wire. The state of an ended task never changes. */
export type TaskState = ExecutionStatus;

/** A question as a record keeps it. */
export interface TaskQuestion {
  /** The key that clients see. The engine mints it, and never uses it twice in one task. */
  readonly key: string;
  /** The ID that the adapter gave the question. */
  readonly questionId: string;
  readonly message: string;
  readonly schema?: JsonObject;
  readonly url?: string;
  /** Present if the question has a secret, which is in the payload `secret:<secretKey>`: the key under which it was first asked. */
  readonly secretKey?: string;
  /**
   * `open`: clients may answer. `answered`: the answer is in the outbox. `closed`: the answer was delivered, or the question was asked again
   * under another key. If the backend still asks a minute after the delivery, the task asks again. `undelivered`: the backend refused the
   * answer. If the backend still asks, the task asks again. `withdrawn`: the backend stopped asking. If it asks later, the task asks again.
   */
  readonly state: "open" | "answered" | "closed" | "undelivered" | "withdrawn";
  /** Epoch milliseconds. */
  readonly askedAt: number;
  /** The question is cancelled if it has no answer by then (epoch milliseconds). */
  readonly expiresAt?: number;
  /** The longest time between two heartbeats, as the adapter reported it (milliseconds). */
  readonly heartbeatMs?: number;
  /** When the answer was delivered (epoch milliseconds). */
  readonly deliveredAt?: number;
  /** How often the question was asked again after a `cancel`. */
  readonly reasks: number;
  /**
   * The session that is showing the question to a person, and until when that claim holds without renewal (epoch milliseconds). Present only
   * while the question is open, on wires where one connection asks one person. Other sessions may answer nevertheless. Absent: no session
   * is showing it.
   */
  readonly claim?: { readonly by: string; readonly until: number };
}

interface EffectBase {
  /** Unique in its record. */
  readonly id: string;
  /** Sends so far. */
  readonly attempts: number;
  /** When the effect is sent next, or, while a send is under way, until when no other process sends it (epoch milliseconds). */
  readonly notBefore: number;
  /** The last error, for operators. */
  readonly lastError?: string;
}

/**
 * An entry of the outbox: something that must reach the backend. The same write that changes the state adds the effect. Whichever server
 * sends it removes it once the backend has confirmed it, or once it can never succeed.
 */
export type Effect =
  | (EffectBase & {
      readonly kind: "start";
      /** Says of `lastError` that no send could have arrived when the error was recorded. */
      readonly nothingSent?: true;
    })
  /** Stops the execution, whatever the state of the task. */
  | (EffectBase & { readonly kind: "cancel"; readonly reason: string })
  /** Delivers an answer, whose content is the payload `answer:<answerId>`. */
  | (EffectBase & {
      readonly kind: "answer";
      readonly answerId: string;
      readonly questionKey: string;
      readonly action: "accept" | "decline" | "cancel";
    })
  | (EffectBase & { readonly kind: "heartbeat"; readonly questionKey: string; readonly everyMs: number })
  /** Reads a large output into a payload, then ends the task. */
  | (EffectBase & { readonly kind: "capture"; readonly mediaType: OutputMediaType })
  /** Releases what the backend keeps for the execution, then removes the record. */
  | (EffectBase & { readonly kind: "forget" });

/** What is known about the attempts to start the execution. */
export interface StartProgress {
  /** When the first attempt that may have arrived was sent (epoch milliseconds). Absent: no attempt can have arrived. */
  readonly firstSentAt?: number;
  /** When the last attempt that may have arrived was sent (epoch milliseconds). */
  readonly lastSentAt?: number;
  /** When that last attempt was over, as the server that made it recorded (epoch milliseconds). Absent: it may be under way, or its server was killed. */
  readonly lastOverAt?: number;
  /** No attempt begins after this instant (epoch milliseconds). */
  readonly deadlineAt: number;
  /** Why no further attempt is made. The engine still searches for an execution that may have started, and fails the task only if it finds none. */
  readonly givenUp?: string;
}

/** The media type of an output. */
export type OutputMediaType = "application/json" | "text/plain";

/** The tool's settings at the time of the call. A configuration that is edited later does not change a running task. */
export interface FrozenPolicy {
  /** The least time between two inspections of the execution (milliseconds). Clients are advised to poll no more often. */
  readonly pollIntervalMs: number;
  /** How long the result is kept after the task has ended (milliseconds). */
  readonly retentionMs: number;
  /** When the execution has run for this long (milliseconds), it is stopped and the task fails. Null: no limit. */
  readonly maxRunMs: number | null;
  /** A question without an answer is cancelled after this long (milliseconds). Null: never. */
  readonly questionTimeoutMs: number | null;
  /**
   * What happens when a start may have arrived and the backend cannot say whether it did. `fail`: the task fails. `restart`: the start is sent
   * again, so that the pipeline may run twice.
   */
  readonly onUnknownStart: "fail" | "restart";
}

/**
 * The durable mapping of one task to one execution, at most 16 KiB. A record is immutable: a change is a new record with the same ID. All
 * instants are epoch milliseconds by the store's clock. A version preserves members that it does not know.
 */
export interface TaskRecord {
  readonly schema: 1;
  readonly taskId: TaskId;
  /** The store sets it: 1 for a new record, one more with each `revise`. */
  readonly revision: number;
  /** Null: the server has no owners, and the ID alone grants access. */
  readonly owner: OwnerId | null;
  /** Where the call came from, in the words of its wire: see `CreateTask.origin`. Absent: unknown. */
  readonly origin?: string;
  readonly tool: string;
  readonly adapterId: AdapterId;
  /** The target as configured at the time of the call. Templates are not filled in. */
  readonly target: JsonValue;
  readonly startKey: StartKey;
  readonly policy: FrozenPolicy;
  readonly state: TaskState;
  /** One line about the present state, for a person. */
  readonly message?: string;
  readonly createdAt: number;
  /** When something that clients see last changed. */
  readonly updatedAt: number;
  /** When the execution was first seen to run, to wait for an answer or to have ended. Absent: it is not known to have begun. Never changes. */
  readonly begunAt?: number;
  readonly endedAt?: number;
  /** Absent while the task runs. */
  readonly expiresAt?: number;
  /** True once `expiresAt` has passed. The payloads are gone, and every verb answers that the task has expired. */
  readonly expired?: boolean;
  /** Present with `expired` if the owner deleted the task. Every verb then answers as if the task did not exist. */
  readonly deleted?: boolean;
  readonly start: StartProgress;
  /** Absent until the backend has accepted the start. */
  readonly ref?: ExecutionRef;
  /** The last known state of the execution. It is updated for operators even after the task has ended. */
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
  /** The counter from which question keys and effect IDs are minted. */
  readonly minted: number;
  /** Present once a caller asked to cancel. `isFinal`: the task became `cancelled` at once, as some wires demand, before the backend was asked. */
  readonly cancel?: {
    readonly requestedAt: number;
    readonly reason: string;
    readonly isFinal: boolean;
    /** When the backend confirmed the request to stop. */
    readonly deliveredAt?: number;
  };
  /** Present with `succeeded`. It describes the payload `output`, or the payload that is named here. */
  readonly output?: { readonly mediaType: OutputMediaType; readonly bytes: number; readonly payload?: PayloadName };
  /** Present with `failed`. */
  readonly failure?: ExecutionFailure;
  /** Since when the backend does not find the execution, without proof that the execution is gone. */
  readonly missingSince?: number;
  /** True until the execution has really ended. Until then the task counts against the limits and the execution is inspected. */
  readonly slotHeld: boolean;
  /** When the engine must next act on this record. Null: never. */
  readonly wakeAt: number | null;
}

/** The names of the payloads next to a record. Each attempt to read an output writes to a payload of its own, `output:<attempt>`. */
export type PayloadName = "input" | "output" | `output:${string}` | `secret:${string}` | `answer:${string}`;

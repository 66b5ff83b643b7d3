import type { BridgeError } from "./bridge-error.ts";
import type { ExecutionQuestion, ExecutionSnapshot } from "./execution-snapshot.ts";
import type { ExecutionRef, StartKey } from "./identity.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";

/** What a start promises when it is repeated, declared by the adapter and obeyed by the engine. */
export type StartPromise =
  /**
   * A start with the same key, target and input yields the same execution however often it is sent, also after a cancel, until
   * `forget`. `forMs` (milliseconds) limits this promise, counted from the first send; null: no limit. `visibilityDelayMs`: for this
   * long after a send, `find` may not yet see the execution. The engine waits for that time before it concludes that a cancelled start
   * never arrived. Default: the longest time that a call may take.
   */
  | { readonly kind: "idempotent"; readonly forMs: number | null; readonly visibilityDelayMs?: number }
  /**
   * A second send may start a second execution, but `find` reports whether the first send arrived. `visibilityDelayMs`: for this long
   * after a send, a key that is not found proves nothing. `windowMs`: `find` sees a key for this long after its send.
   */
  | { readonly kind: "findable"; readonly visibilityDelayMs: number; readonly windowMs: number }
  /** Neither promise: when the outcome of a send is unknown, it stays unknown. */
  | { readonly kind: "at-most-once" };

/**
 * Facts about a backend that its adapter declares. The engine relies on them. They hold for the whole adapter instance: where a
 * backend has modes with different promises, the mode is an option of the factory.
 */
export interface AdapterTraits {
  readonly start: StartPromise;
  /**
   * `confirmed`: when `cancel` resolves, the execution has stopped or is certain to stop. `requested`: the execution was asked to stop and
   * may go on. `none`: the backend cannot stop an execution.
   */
  readonly cancel: "confirmed" | "requested" | "none";
  /** The engine inspects one execution at most once in this time (milliseconds). */
  readonly minInspectIntervalMs: number;
  /**
   * The backend may forget an execution, or how it ended, when nobody inspects it for this long (milliseconds). The engine inspects at
   * least twice in this time. Null: the backend does not forget.
   */
  readonly mustInspectWithinMs: number | null;
  /** The most executions that one call of `inspect` accepts. */
  readonly inspectBatch: number;
  /**
   * The most `inspect` calls of this adapter in a minute, for backends that limit a whole account. It also limits how many executions
   * whose tasks nobody reads are inspected in detail in a minute, since each of them may cost calls of its own. Absent: no limit.
   */
  readonly maxInspectCallsPerMinute?: number;
  /** The largest input in bytes that the backend accepts. Null: the backend has no limit. */
  readonly maxPayloadBytes: number | null;
  /** How long the backend keeps the output of an ended execution (milliseconds). Null: until `forget`, or for ever. */
  readonly retentionMs: number | null;
  /** True when executions live on this host only, so that a store shared with other hosts cannot serve them. */
  readonly hostBound: boolean;
  /** What an answer may carry. `form`: any JSON content. `decision`: accept or decline, without content. */
  readonly questions: "form" | "decision" | "none";
  /** What progress the backend reports. `counted`: numbers. `text`: only a message. */
  readonly progress: "counted" | "text" | "none";
}

/** The context of one call of a verb. An adapter does not keep it after the call. */
export interface CallContext {
  /** Fires at the engine's deadline for this call, and when the engine closes. The verb then rejects at once. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds by the engine's clock. */
  now(): number;
  /** Writes a line for operators. It must not contain a secret. */
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** One attempt to start an execution. */
export interface StartRequest<Target> {
  /** The start key. Where the backend lets us choose the name or ID of an execution, the adapter uses this key. */
  readonly key: StartKey;
  /** The target as it was when the task was created. Values of the input replace its `{{input.x}}` templates. */
  readonly target: Target;
  /** The input as JSON text. Send exactly this text: some backends compare it to recognise a repeated start. */
  readonly input: string;
  /** 1 for the first attempt. Above 1, an earlier attempt may have arrived, unless `firstSentAt` is absent. */
  readonly attempt: number;
  /**
   * When any server first sent this start in an attempt that may have arrived (epoch milliseconds by the engine's clock). The execution
   * cannot be older. Absent: no earlier attempt can have arrived.
   */
  readonly firstSentAt?: number;
}

/** The backend's answer to a start. */
export interface StartOutcome {
  /** All other verbs find the execution by this reference. */
  readonly ref: ExecutionRef;
  /** The state of the execution, when the backend's answer contains it. */
  readonly snapshot?: ExecutionSnapshot;
}

/** One execution to inspect. */
export interface InspectItem {
  readonly ref: ExecutionRef;
  /** The last known snapshot. Some backends can be inspected with fewer calls when it is known. */
  readonly previous?: ExecutionSnapshot;
  /**
   * `detail` includes what costs extra calls: questions, progress, children. The engine wants it while a client reads the task, and now
   * and then for tasks that no client reads.
   */
  readonly want: "status" | "detail";
}

/** The result for one inspected execution. An execution that has failed is a snapshot, not an error. */
export type InspectOutcome =
  /**
   * `ref` is present when the backend now knows the execution by another reference (a queue item became a build). Only `inspect` can
   * change a reference. The adapter must still accept the old one.
   */
  | { readonly snapshot: ExecutionSnapshot; readonly ref?: ExecutionRef }
  /** `proven`: the backend itself says that the execution is gone for good (the host rebooted, the queue was trimmed). */
  | { readonly notFound: { readonly proven: boolean; readonly reason: string } }
  | { readonly unavailable: string; readonly retryAfterMs?: number }
  | { readonly error: BridgeError };

/** One attempt to deliver an answer. */
export interface AnswerRequest {
  /** Identifies the answer. A repeated delivery has the same ID. */
  readonly answerId: string;
  /**
   * 1 for the first delivery: if the question is closed, that is a `conflict`. Above 1, an earlier delivery may have arrived and closed the
   * question.
   */
  readonly attempt: number;
  /** The question as the adapter reported it, with its secret. */
  readonly question: ExecutionQuestion;
  /** `decline`: the person refuses. `cancel`: no answer came in time, or the person dismissed the question for good. */
  readonly action: "accept" | "decline" | "cancel";
  /** Present only with `accept`. It fits the question's schema. */
  readonly content?: JsonValue;
}

/** An event about an execution, from a queue, a stream or a webhook. Events may be late, repeated or out of order. */
export interface ExecutionUpdate {
  /**
   * Compared as text with the reference in the record, which it never replaces: an event with another reference only makes the engine
   * inspect the execution. If the task has no reference yet and the event has its key, this reference becomes the task's.
   */
  readonly ref?: ExecutionRef;
  /**
   * The start key. With a key, the engine finds the task by the key alone. Report a key only when it is certain that this very execution was
   * started under it, in a target of this adapter: nested executions copy names, and so may anyone who can write to the source.
   */
  readonly key?: StartKey;
  /** The state that the event reports. Absent: the event says only that something changed, and the engine inspects the execution. */
  readonly snapshot?: ExecutionSnapshot;
}

/** The execution to find after a start whose outcome is unknown. */
export interface FindRequest<Target> {
  readonly key: StartKey;
  readonly target: Target;
  /** When the start was first sent (epoch milliseconds by the engine's clock). Nothing older need be searched. */
  readonly firstSentAt: number;
}

/** What to observe, and where events go. */
export interface WatchRequest<Target> {
  /** The targets of all configured tools of this adapter. They may contain templates; skip a target that cannot be observed. */
  readonly targets: readonly Target[];
  /** The last position that was passed to `sink`, by this server or an earlier one. */
  readonly cursor?: string;
  /**
   * Resolves once the updates are in the store. Only then does the engine save `cursor`, and only then may the adapter acknowledge the
   * events at their source. The engine drops updates that fit no task, so that no other program may consume the same source.
   */
  sink(updates: readonly ExecutionUpdate[], cursor?: string): Promise<void>;
  /** The adapter calls this when the subscription ends by itself. The engine subscribes again after a pause. */
  ended(error: BridgeError): void;
}

/** A source that is being observed. */
export interface Subscription {
  /** Ends the subscription. Once this has resolved, the adapter does not call `sink` again. Idempotent. */
  close(): Promise<void>;
}

/** A webhook call as it arrived. */
export interface ReceiveRequest {
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The bytes that were signed. */
  readonly rawBody: Uint8Array;
}

/** Part of an output. */
export interface OutputRange {
  /** Bytes from the start. */
  readonly offset: number;
  /** At most this many bytes. */
  readonly length: number;
}

/** The bytes of a range. */
export interface OutputChunk {
  /** Empty only at or after the end. */
  readonly bytes: Uint8Array;
  /** Size of the whole output. */
  readonly totalBytes: number;
}

/** A pipeline that exists at the backend, as `discover` reports it. */
export interface PipelineDescription<Target> {
  readonly name: string;
  readonly description?: string;
  readonly target: Target;
  readonly input?: JsonObject;
}

/** One finding of `check`. */
export interface CheckFinding {
  readonly level: "ok" | "warning" | "error";
  /**
   * Present only with `error`: no call can succeed until an operator changes the configuration, whatever the backend does (a pipeline of a
   * type that this adapter does not run, a pipeline in another region). A server then refuses to start. Absent for faults that may pass:
   * the backend is unreachable, denies or throttles the call, or does not have the pipeline yet.
   */
  readonly code?: "misconfigured";
  /** The part of the adapter's options or of the target that the finding is about: `command[0]`. Empty: the whole adapter. */
  readonly path: string;
  readonly message: string;
}

/**
 * What the engine needs from a backend. `start` and at least one of `inspect`, `watch` and `receive` are required. A verb that is absent
 * is unsupported. Every verb rejects with a `BridgeError`, which says `notSent` if the request certainly never left. An adapter creates
 * its vendor's client lazily, so that constructing the adapter connects to nothing.
 */
export interface WorkflowAdapter<Target = unknown> {
  /** Version of this contract. */
  readonly contract: 1;
  /** The name of the backend in messages: `process`, `bullmq`. */
  readonly kind: string;
  readonly traits: AdapterTraits;
  /**
   * Checks the shape of a configured target without calling the backend. Throws `misconfigured` with `data.path`. The target may contain
   * `{{input.x}}` templates. The result must be JSON: each record keeps the target as it was at the call.
   */
  parseTarget(target: unknown): Target;
  /**
   * Starts one execution, and only one for each key as far as `traits.start` promises. Rejects with `outcome_unknown` when the backend may
   * have accepted the start. Any other rejection is about this attempt only: an earlier attempt may have started an execution, which
   * `find` then finds. The exception is `conflict`: something else has the key, so that no attempt has arrived.
   */
  start(request: StartRequest<Target>, context: CallContext): Promise<StartOutcome>;
  /**
   * Reads the state of many executions. The outcomes have the order of the items. An item that hangs, fails or has an unreadable reference
   * does not affect the other items. The call rejects only when no item could be inspected. Idempotent.
   */
  inspect?(items: readonly InspectItem[], context: CallContext): Promise<readonly InspectOutcome[]>;
  /** Stops an execution. Idempotent. An execution that has already ended is not an error. */
  cancel?(ref: ExecutionRef, reason: string, context: CallContext): Promise<void>;
  /**
   * Delivers an answer. Rejects with `conflict` when the question is no longer open, and with `unsupported` when the question cannot be
   * declined. A repeated `answerId` is not an error.
   */
  answer?(ref: ExecutionRef, request: AnswerRequest, context: CallContext): Promise<void>;
  /** Keeps an open question alive. Rejects with `conflict` when the question is no longer open. Idempotent. */
  heartbeat?(ref: ExecutionRef, question: ExecutionQuestion, context: CallContext): Promise<void>;
  /**
   * Finds the execution that was started under this key; undefined when the backend shows none. The engine calls this before it fails a task
   * whose start may have arrived. Changes nothing.
   */
  find?(request: FindRequest<Target>, context: CallContext): Promise<ExecutionRef | undefined>;
  /** Subscribes to events. Resolves once subscribed. The context's signal can abort the subscribing, and has no effect afterwards. */
  watch?(request: WatchRequest<Target>, context: CallContext): Promise<Subscription>;
  /** Reads a webhook call. Rejects with `denied` when its signature is wrong. */
  receive?(request: ReceiveRequest, context: CallContext): Promise<readonly ExecutionUpdate[]>;
  /** Reads part of an output that is too large for a snapshot. */
  readOutput?(ref: ExecutionRef, range: OutputRange, context: CallContext): Promise<OutputChunk>;
  /** Releases what the backend keeps for an execution whose task was removed. Idempotent. Absent: the backend keeps nothing for us. */
  forget?(ref: ExecutionRef, context: CallContext): Promise<void>;
  /** Lists the pipelines that exist at the backend. */
  discover?(filter: string | undefined, context: CallContext): AsyncIterable<PipelineDescription<Target>>;
  /**
   * Checks whether the backend can be reached and these targets can be used. Problems are findings, not rejections. When the signal fires,
   * the call either rejects or resolves at once with its findings so far and an `error` for each part that has not answered.
   */
  check?(targets: readonly Target[], context: CallContext): Promise<readonly CheckFinding[]>;
  /** Closes connections and subscriptions. Executions go on. Idempotent. The engine calls no verb afterwards. */
  close?(): Promise<void>;
}

/** The factory that an adapter package exports for configuration files. Throws `misconfigured` with `data.path`. */
export type CreateAdapter = (
  options: Readonly<Record<string, unknown>>,
  environment: AdapterEnvironment,
) => WorkflowAdapter;

/** What an adapter may need to know about its configuration file. */
export interface AdapterEnvironment {
  /** The folder of the configuration file. Relative paths start here. */
  readonly baseDirectory: string;
}

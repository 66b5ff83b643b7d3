import type { BridgeError } from "./bridge-error.ts";
import type { ExecutionQuestion, ExecutionSnapshot } from "./execution-snapshot.ts";
import type { ExecutionRef, StartKey } from "./identity.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";

/** What a start promises when it is repeated, declared by the adapter and obeyed by the engine. */
export type StartPromise =
  /**
   * Sending the same key, target and input again yields the same execution, also after a cancel, until `forget`.
   * `forMs`: for how long after the first send; null = for ever. `visibilityDelayMs`: for how long after a send `find` may miss what
   * it started, which then is not sent again because nobody wants it any more. Default: as long as a call may take.
   */
  | { readonly kind: "idempotent"; readonly forMs: number | null; readonly visibilityDelayMs?: number }
  /**
   * Sending twice may start twice, but `find` tells whether a send arrived. `visibilityDelayMs`: a missing key proves nothing
   * until this long after the send. `windowMs`: the key can be found for this long.
   */
  | { readonly kind: "findable"; readonly visibilityDelayMs: number; readonly windowMs: number }
  /** Neither: after a send whose outcome is unknown nothing can be known. */
  | { readonly kind: "at-most-once" };

/**
 * Declared facts about a backend. The engine obeys them and READMEs print them. They hold for the whole instance: where
 * a backend has modes with different promises, the mode is an option of the factory.
 */
export interface AdapterTraits {
  readonly start: StartPromise;
  /** `confirmed`: when `cancel` resolves the execution has stopped or will without fail. `requested`: it was only asked to. */
  readonly cancel: "confirmed" | "requested" | "none";
  /** Never look at one execution more often than this (milliseconds). */
  readonly minInspectIntervalMs: number;
  /**
   * An execution that was not looked at for this long (milliseconds) may no longer be found, or its end no longer be
   * known; the engine looks at least twice as often. Null: there is no hurry.
   */
  readonly mustInspectWithinMs: number | null;
  /** The most executions one `inspect` call takes. */
  readonly inspectBatch: number;
  /**
   * The most `inspect` calls of this adapter in a minute, where the backend limits a whole account. Also the most executions that
   * are looked at in detail in a minute while nobody reads them, since each may cost calls of its own. Absent: no such limit.
   */
  readonly maxInspectCallsPerMinute?: number;
  /** The largest input in bytes. Null: no limit of the backend's. */
  readonly maxPayloadBytes: number | null;
  /** How long the backend keeps a finished execution's output (milliseconds). Null: until `forget`, or for ever. */
  readonly retentionMs: number | null;
  /** True when executions live on this host only, so that a store shared with other hosts cannot serve them. */
  readonly hostBound: boolean;
  /** `form`: any JSON content. `decision`: accept or decline, no content. */
  readonly questions: "form" | "decision" | "none";
  /** `counted`: numbers. `text`: a message only. */
  readonly progress: "counted" | "text" | "none";
}

/** Passed to every verb. Belongs to that one call: never kept beyond it. */
export interface CallContext {
  /** Fires at the engine's deadline for this call or at shutdown. Verbs reject promptly when it does. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds by the engine's clock. */
  now(): number;
  /** Diagnostics for operators. Never a secret. */
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** One send of a start. */
export interface StartRequest<Target> {
  /** Also the execution's name or ID at the backend, wherever it lets us choose one. */
  readonly key: StartKey;
  /** The target as it was when the task was created, with the input's values filled in. */
  readonly target: Target;
  /** The exact JSON text of the input. Send these bytes: some backends compare them to recognise a repeated start. */
  readonly input: string;
  /** 1 for the first send. Above 1, an earlier send may have arrived, unless there is no `firstSentAt`. */
  readonly attempt: number;
  /**
   * Epoch milliseconds by the engine's clock of the first earlier send that may have arrived, by whichever process: nothing of
   * this start is older. Absent: there was none, or none of them has arrived for certain.
   */
  readonly firstSentAt?: number;
}

/** What the backend said to a start. */
export interface StartOutcome {
  /** By which every other verb finds the execution. */
  readonly ref: ExecutionRef;
  /** The state at once, when the backend's answer holds it. */
  readonly snapshot?: ExecutionSnapshot;
}

/** One look-up of a batch. */
export interface InspectItem {
  readonly ref: ExecutionRef;
  /** The last snapshot seen, for backends whose look-ups are cheaper with it. */
  readonly previous?: ExecutionSnapshot;
  /** `detail` adds what costs extra calls (questions, progress, children, log tail); asked while someone looks, and otherwise in turn. */
  readonly want: "status" | "detail";
}

/** What came of one look-up. A failed *execution* is a snapshot, never an error. */
export type InspectOutcome =
  /**
   * `ref` when it has evolved (a queue item became a build): nothing else ever changes a ref, so that where refs evolve there
   * must be looks. Old refs must still be understood.
   */
  | { readonly snapshot: ExecutionSnapshot; readonly ref?: ExecutionRef }
  /** `proven`: the backend itself tells that it is gone for good (the host rebooted, the queue was trimmed), not merely unseen. */
  | { readonly notFound: { readonly proven: boolean; readonly reason: string } }
  | { readonly unavailable: string; readonly retryAfterMs?: number }
  | { readonly error: BridgeError };

/** One delivery of an answer. */
export interface AnswerRequest {
  /** Names this answer: a repeated delivery carries the same one. */
  readonly answerId: string;
  /** 1 for the first delivery: a closed question then is a `conflict`. Above 1 an earlier one may have arrived, and closed it. */
  readonly attempt: number;
  /** The question as the adapter gave it, with its secret. */
  readonly question: ExecutionQuestion;
  /** `decline`: the person refuses. `cancel`: nobody answered in time, or the person dismissed the question for good. */
  readonly action: "accept" | "decline" | "cancel";
  /** Only with `accept`; valid by the question's schema. */
  readonly content?: JsonValue;
}

/** News about an execution, from a queue, a stream or a webhook: a hint, possibly late, repeated or out of order. */
export interface ExecutionUpdate {
  /**
   * Compared as text with the stored one, and never put in its place: news under another ref is only a reason to look. Beside
   * the key of a task that has no ref yet it becomes the task's own, so put a key there only when it is certain that this very
   * execution was started under it, in a target of this adapter: names are copied, by nested executions and by whoever may write
   * to the source. With a key the task is found by that alone.
   */
  readonly ref?: ExecutionRef;
  readonly key?: StartKey;
  /** The state it tells. Absent: only that something changed; the engine looks. */
  readonly snapshot?: ExecutionSnapshot;
}

/** What to look for after a start whose outcome is unknown. */
export interface FindRequest<Target> {
  readonly key: StartKey;
  readonly target: Target;
  /** Epoch milliseconds by the engine's clock of the first send: nothing older need be searched. */
  readonly firstSentAt: number;
}

/** What to listen to, and where news goes. */
export interface WatchRequest<Target> {
  /** The targets of all configured tools of this adapter. They may hold unfilled templates: skip what cannot be listened to. */
  readonly targets: readonly Target[];
  /** What `sink` was last given, from an earlier life of the server. */
  readonly cursor?: string;
  /**
   * Resolves once the updates are in the store. Only then is `cursor` saved, and only then may the adapter acknowledge
   * them. Updates that fit no task are dropped, so a source must belong to this server alone.
   */
  sink(updates: readonly ExecutionUpdate[], cursor?: string): Promise<void>;
  /** To be called when the subscription ends by itself; the engine subscribes again after a pause. */
  ended(error: BridgeError): void;
}

/** A source that is being listened to. */
export interface Subscription {
  /** Stops listening: `sink` is not called again once this has resolved. Idempotent. */
  close(): Promise<void>;
}

/** A webhook call as it came. */
export interface ReceiveRequest {
  /** Lower-case names. */
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

/** What a range holds. */
export interface OutputChunk {
  /** Empty only at or behind the end. */
  readonly bytes: Uint8Array;
  /** Size of the whole output. */
  readonly totalBytes: number;
}

/** A pipeline that exists at the backend, as `discover` tells it. */
export interface PipelineDescription<Target> {
  readonly name: string;
  readonly description?: string;
  readonly target: Target;
  readonly input?: JsonObject;
}

/** Something `check` found. */
export interface CheckFinding {
  readonly level: "ok" | "warning" | "error";
  /**
   * Only with `error`: the configuration is wrong whatever the backend does next, so that no call can succeed until somebody
   * changes it (a pipeline of another type than this adapter runs, one in another region). A server refuses to start. What may pass
   * or come later has none: unreachable, denied, throttled, a pipeline that is not there.
   */
  readonly code?: "misconfigured";
  /** Which part of the adapter's options or of which target: `command[0]`. Empty: the adapter as a whole. */
  readonly path: string;
  readonly message: string;
}

/**
 * What the engine needs from a backend. `start` and at least one of `inspect`, `watch`, `receive` are required; a verb
 * that is absent is unsupported. Every verb rejects with a `BridgeError`; one whose request certainly never left says
 * `notSent`. Clients of the vendor are created lazily, so that constructing an adapter touches nothing.
 */
export interface WorkflowAdapter<Target = unknown> {
  /** Version of this contract. */
  readonly contract: 1;
  /** The backend's name, for messages: `process`, `bullmq`. */
  readonly kind: string;
  readonly traits: AdapterTraits;
  /**
   * Checks the shape of a configured target, without touching the backend. Throws `misconfigured` with `data.path`.
   * May still hold `{{input.x}}` templates. The result must be JSON: it is frozen into each record.
   */
  parseTarget(target: unknown): Target;
  /**
   * Starts one execution, once for a key as far as `traits.start` promises. Errors as in the code table; unsure = `outcome_unknown`.
   * A refusal is about this send alone, and what an earlier one has started is then found by `find`; but `conflict` says that
   * something else has the key, so that none has arrived.
   */
  start(request: StartRequest<Target>, context: CallContext): Promise<StartOutcome>;
  /**
   * Looks at many executions. Outcomes are in the order of the items; one that hangs, fails or has an unreadable ref does
   * not harm the others. The call as a whole rejects only when nothing could be asked at all. Idempotent.
   */
  inspect?(items: readonly InspectItem[], context: CallContext): Promise<readonly InspectOutcome[]>;
  /** Stops an execution. Idempotent; an execution that has already ended is not an error. */
  cancel?(ref: ExecutionRef, reason: string, context: CallContext): Promise<void>;
  /**
   * Delivers an answer. Rejects with `conflict` when that question is no longer open, with `unsupported` when it cannot be
   * declined; a repeated `answerId` is not an error.
   */
  answer?(ref: ExecutionRef, request: AnswerRequest, context: CallContext): Promise<void>;
  /** Keeps an open question alive. Rejects with `conflict` when it is no longer open. Idempotent. */
  heartbeat?(ref: ExecutionRef, question: ExecutionQuestion, context: CallContext): Promise<void>;
  /** The execution that was started under this key, if one is seen. Asked before a task fails whose start may have arrived. Read only. */
  find?(request: FindRequest<Target>, context: CallContext): Promise<ExecutionRef | undefined>;
  /** Listens for news. Resolves once listening. The context's signal gives up connecting, and is not used afterwards. */
  watch?(request: WatchRequest<Target>, context: CallContext): Promise<Subscription>;
  /** Reads a webhook call and checks its signature; `denied` when that fails. */
  receive?(request: ReceiveRequest, context: CallContext): Promise<readonly ExecutionUpdate[]>;
  /** Part of an output too large for a snapshot. */
  readOutput?(ref: ExecutionRef, range: OutputRange, context: CallContext): Promise<OutputChunk>;
  /** Releases what the backend keeps for an execution whose task was purged. Idempotent. Absent: nothing is kept for us. */
  forget?(ref: ExecutionRef, context: CallContext): Promise<void>;
  /** The pipelines that exist. */
  discover?(filter: string | undefined, context: CallContext): AsyncIterable<PipelineDescription<Target>>;
  /**
   * Reaches the backend and looks whether it and these targets can be used. Reports; rejects only when aborted, or reports then, at once,
   * what it has found so far and an `error` for what has not answered.
   */
  check?(targets: readonly Target[], context: CallContext): Promise<readonly CheckFinding[]>;
  /** Lets go of connections and subscriptions; executions go on. Idempotent. Nothing is called afterwards. */
  close?(): Promise<void>;
}

/** The factory that an adapter package exports for configuration files. Throws `misconfigured` with `data.path`. */
export type CreateAdapter = (
  options: Readonly<Record<string, unknown>>,
  environment: AdapterEnvironment,
) => WorkflowAdapter;

/** What a configuration file knows that an adapter may need. */
export interface AdapterEnvironment {
  /** The folder of the configuration file: what relative paths are relative to. */
  readonly baseDirectory: string;
}

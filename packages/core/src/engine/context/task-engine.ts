import type { OwnerId } from "../../contract/identity.ts";
import type { OutputMediaType, TaskQuestion, TaskRecord } from "../../contract/task-record.ts";
import type { ListFilter } from "../../contract/task-store.ts";
import type { ReceiveRequest } from "../../contract/workflow-adapter.ts";
import type { Limits } from "./limits.ts";
import type { Access } from "./ownership.ts";
import type { GivenAnswer, PrepareOutcome, ResolvedTool } from "./tool-definition.ts";

/** A task as a wire needs it to answer. */
export interface TaskView {
  readonly record: TaskRecord;
  /** Milliseconds after which a look is worth its cost: the floor of the tool, grown with age, throttling and back-off. */
  readonly pollIntervalMs: number;
  /** The backend cannot be asked at present, so that the record tells what was seen then (milliseconds since the epoch). */
  readonly staleSince?: number;
  /** A client has chosen the ID, which is then unique for its owner only. */
  readonly isClientMinted: boolean;
  /** With a record that has succeeded: the beginning of its output, whole when `bytes.length === record.output.bytes`. */
  readonly output?: Uint8Array;
}

/** A task as the call that was made for it finds it. */
export interface CreatedTask extends TaskView {
  /** Nothing was started: the same call is this task already (`task.dedupeWindowMs`). */
  readonly isDeduplicated: boolean;
  /** The tool's `task.immediateResponse`, filled with this call's arguments. */
  readonly immediateResponse?: string;
}

/** One call of a tool. */
export interface CreateTask {
  /** Its name; `invalid_input` when there is no such tool. */
  readonly tool: string;
  /** The arguments as they came. `invalid_input` with `data.path` when they do not fit the tool's schema. */
  readonly input: unknown;
  /** Null: a server without owners. */
  readonly owner: OwnerId | null;
  /**
   * The ID that the client wants the task to have: 1 to 128 of `A-Z a-z 0-9 _ . : -`, not dots alone, else `invalid_input`
   * with `data.path`. Needs an owner, else `unsupported`. One that this owner has used before is `conflict`, also when that
   * task is gone, for `limits.tombstoneMs`. Such a call never folds into another. Absent: the server mints one.
   */
  readonly taskId?: string;
  /**
   * Names the call in its record, so that another process can tell whose it was: up to 64 visible ASCII characters other than
   * `"` and `\\`, else `invalid_input` with `data.path`. Opaque here; clients see nothing of it. A call that folds into another
   * leaves that one's as it is. Absent: the record has none.
   */
  readonly origin?: string;
  /** How long the caller wants the result kept after the end; capped, and never longer than the tool says. Milliseconds. */
  readonly retentionMs?: number;
  /**
   * Fires when the caller is gone before the answer. The execution is then stopped (or never started) and the call
   * rejects. With `taskId` the task is `cancelled` from then on, if it was written before. Must not fire after `createTask`
   * has resolved.
   */
  readonly signal?: AbortSignal;
}

/** What to wait for, and how long. */
export interface WaitOptions {
  /** `ended`: until the task has ended. `attention`: also when it asks a question. `changed`: until its revision is not `revision`. */
  readonly until: "ended" | "attention" | "changed";
  /** With `changed`: the revision that the caller has seen. Default: the present one. */
  readonly revision?: number;
  /** Milliseconds after which the present state is the answer. */
  readonly timeoutMs: number;
  /** Ends the wait early; the present state is the answer. */
  readonly signal?: AbortSignal;
}

/** What became of each answer. */
export interface AnswerReport {
  /** Keys whose answers are on their way to the backend, written down already. */
  readonly accepted: readonly string[];
  /** Keys dismissed with `cancel` that are asked again under a new key. */
  readonly askedAgain: readonly string[];
  /** Keys that are not open: unknown, answered already, withdrawn. */
  readonly ignored: readonly string[];
}

/**
 * What became of a claim. `held`: by the caller, until `question.claim.until`. `taken`: by somebody else, until then (epoch
 * milliseconds by the store's clock) unless renewed or released. `closed`: there is no such open question.
 */
export type ClaimOutcome =
  | { readonly outcome: "held"; readonly question: TaskQuestion }
  | { readonly outcome: "taken"; readonly until: number }
  | { readonly outcome: "closed" };

/** A range of an output. */
export interface OutputPart {
  /** Shorter than asked at the end. */
  readonly bytes: Uint8Array;
  /** Size of the whole output. */
  readonly totalBytes: number;
  readonly mediaType: OutputMediaType;
}

/** Everything known about a task, for operators. */
export interface TaskExplanation {
  readonly record: TaskRecord;
  /** Milliseconds between two looks at present. */
  readonly pollIntervalMs: number;
  /** Epoch milliseconds of the last look by this process, since it started. */
  readonly lastInspectedAt?: number;
  /** What that look failed with, if it did. */
  readonly lastInspectError?: string;
  /** Milliseconds for which the backend is still left alone, because it refused look-ups. 0: it answers. */
  readonly backendBackoffMs: number;
}

/**
 * Ties tasks to executions. Every verb takes what a caller sent and checks it: an ID that is unknown, foreign, malformed
 * or purged rejects with `not_found` and always the same message; one that has expired says so while that is known.
 *
 * A caller with an owner says and sees IDs as they were minted. An ID that a client minted is unique for its owner only; the
 * operator sees and says it with its owner's scope (`<scope>~<id>`), and may leave that out: the local owner's is meant
 * first, else the only one there is; of several owners' it is `conflict`, with the full IDs in `data.taskIds`.
 */
export interface TaskEngine {
  /** By name, every default filled in. */
  readonly tools: ReadonlyMap<string, ResolvedTool>;
  /** Every default filled in. */
  readonly limits: Limits;
  /** Starts what runs by itself: the outbox, sweeps, subscriptions. Without it the engine only acts when called. */
  open(): Promise<void>;
  /** Names of the adapters whose backends did not answer when they were last asked. */
  unavailableAdapters(): readonly string[];
  /**
   * Starts a pipeline. Resolves once the task can be read by everyone who shares the store, after at most the tool's
   * `ackMs` from the send. Rejects without leaving a task when the arguments are wrong, a limit is met (`limit_exceeded`
   * with `data.openTaskIds`, `retryAfterMs`) or the backend refuses at once.
   */
  createTask(request: CreateTask): Promise<CreatedTask>;
  /** Runs a tool's `prepare`; without one, the input goes through. Checks the arguments first. */
  prepareCall(tool: string, input: unknown, answers: Readonly<Record<string, GivenAnswer>>): Promise<PrepareOutcome>;
  /** The present state: from the record, after one shared look at the backend when the last one is older than the poll interval. */
  readTask(taskId: unknown, access: Access): Promise<TaskView>;
  /** Waits for a change, looking at the backend meanwhile as often as a polling client would. */
  waitForTask(taskId: unknown, access: Access, options: WaitOptions): Promise<TaskView>;
  /**
   * Calls `listener` with each new state, beginning with the present one, until `stop` or after the end. States may be
   * skipped, never reordered. `gone` is called when the task expires or is removed.
   */
  followTask(
    taskId: unknown,
    access: Access,
    listener: (view: TaskView) => void,
    gone?: () => void,
  ): Promise<{ stop(): void }>;
  /**
   * Takes answers to open questions. All or nothing: content that does not fit its question's schema is
   * `invalid_input` with `data.path`, and every key stays open.
   */
  answerTask(taskId: unknown, access: Access, answers: Readonly<Record<string, GivenAnswer>>): Promise<AnswerReport>;
  /**
   * Claims an open question, so that of all who notice it, in any process, one puts it to the person. A claim lapses after
   * `forMs` (milliseconds, at most a minute) unless `by` claims again, which extends it and never shortens it. `by` is 1 to 64
   * visible ASCII characters other than `"` and `\`; one name is one holder, however often it claims. Anything else is
   * `invalid_input` with `data.path`. Clients see nothing of it, and who waits for a change is woken by a claim and by a
   * release, but not when one lapses. Anyone may answer meanwhile: the first answer counts.
   */
  claimQuestion(
    taskId: unknown,
    access: Access,
    key: string,
    claim: { readonly by: string; readonly forMs: number },
  ): Promise<ClaimOutcome>;
  /** Gives back what `by` holds, so that others may ask at once. No effect when it holds nothing, or the task is gone. */
  releaseQuestion(taskId: unknown, access: Access, key: string, by: string): Promise<void>;
  /**
   * Asks the backend to stop. `isFinal`: the task is `cancelled` before this resolves, as some wires demand; otherwise it
   * ends as the backend ends. Of an ended task: no effect. Idempotent.
   */
  cancelTask(
    taskId: unknown,
    access: Access,
    options: { readonly reason: string; readonly isFinal: boolean },
  ): Promise<TaskView>;
  /**
   * Newest first. A page may hold fewer than `limit`, even none, although there is a `cursor`: what its owner has deleted is
   * left out of it. The last page is the one without `cursor`. A server without owners cannot list: `unsupported`.
   */
  listTasks(
    access: Access,
    filter: ListFilter,
    cursor: string | undefined,
    limit: number,
  ): Promise<{ readonly tasks: readonly TaskView[]; readonly cursor?: string }>;
  /**
   * Removes a task and its result at once; a running one becomes `cancelled` first and is stopped. Every verb then answers as
   * for an unknown ID, also while the execution is still being stopped, which holds its slot. An ID that a client minted stays
   * taken.
   */
  deleteTask(taskId: unknown, access: Access): Promise<void>;
  /** Part of the output of a task that has succeeded. `unsupported` before the end, `invalid_input` for a range beyond it. */
  readOutput(
    taskId: unknown,
    access: Access,
    range: { readonly offset: number; readonly length: number },
  ): Promise<OutputPart>;
  /** Hands a webhook call to an adapter. `denied` when its signature is wrong, `unsupported` when the adapter takes none. */
  receive(adapterId: string, request: ReceiveRequest): Promise<void>;
  /** Everything known about a task, for operators: no owner is checked. `not_found` as with the other verbs. */
  explainTask(taskId: unknown): Promise<TaskExplanation>;
  /**
   * Ends what `open` has started and gives its leases back, so that others who share the store take over at once. Every verb
   * acts as before. Idempotent; resolves when nothing of it is under way any more.
   */
  rest(): Promise<void>;
  /** Resolves when nothing is being sent or written any more by this process. Adapters and store stay open. */
  close(): Promise<void>;
}

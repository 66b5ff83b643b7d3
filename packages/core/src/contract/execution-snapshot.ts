import type { JsonObject, JsonValue } from "./json-value.ts";

/** Every status of an execution: the one list from which the type and the checks are derived. */
export const executionStatuses = ["queued", "running", "waiting", "succeeded", "failed", "cancelled"] as const;

/** The state of an execution, in the backend's sense. Deliberately not the words of any MCP wire. */
export type ExecutionStatus = (typeof executionStatuses)[number];

/** How far an execution has come. Units are the job's own (frames, files, steps). */
export interface ExecutionProgress {
  readonly done?: number;
  readonly total?: number;
  readonly message?: string;
}

/** Something an execution waits for a person to say. */
export interface ExecutionQuestion {
  /**
   * Identity of this very question, unique for the life of the execution: a job that asks twice under one name asks two
   * questions (`approve#2`, `sfn:17`, `gh:<environment>:<attempt>`). The engine mints the key that clients see from it.
   */
  readonly id: string;
  /** What the person reads. */
  readonly message: string;
  /** JSON Schema of the content that an `accept` carries. Absent: accepting is all there is to say. */
  readonly schema?: JsonObject;
  /** A page where the person acts instead of filling in a form. */
  readonly url?: string;
  /** What `answer` needs and nobody else may see (task token, callback URL). Stored apart, encrypted when a key is configured. */
  readonly secret?: string;
  /** Epoch milliseconds after which the backend gives up on it. */
  readonly expiresAt?: number;
  /** When set, `heartbeat` must be called at least this often (milliseconds) or the backend gives up. */
  readonly heartbeatMs?: number;
}

/** What a finished execution produced. */
export type ExecutionOutput =
  | { readonly kind: "json"; readonly value: JsonValue }
  | { readonly kind: "text"; readonly text: string }
  /** Too large for a snapshot: the engine fetches it with `readOutput`. `bytes` where it is known beforehand. */
  | { readonly kind: "stream"; readonly bytes?: number; readonly mediaType: "application/json" | "text/plain" };

/** An output above this size in bytes should be a `stream`. */
export const inlineOutputBytes = 65_536;

/** Why an execution failed. */
export interface ExecutionFailure {
  /** `job`: the work itself failed. `protocol`: the call could not be carried out as one (it becomes a JSON-RPC error). */
  readonly kind: "job" | "protocol";
  /** One line for a person: `exit code 2: no such file`. */
  readonly reason: string;
  /** The backend's own code for it (`States.Timeout`, `ENOENT`). */
  readonly code?: string;
  /** More text for a person: a stack, the tail of a log. */
  readonly detail?: string;
}

/** A part of an execution worth naming (workflow step, child job). */
export interface ExecutionChild {
  readonly name: string;
  readonly status: ExecutionStatus;
  readonly url?: string;
}

/**
 * An execution at one moment.
 *
 * - `waiting` means that a person can carry it on through `questions`. Any other wait is `queued` or `running`.
 * - Absent `questions` say nothing about questions (nobody looked); an empty list says that none is open.
 * - An ended snapshot is complete, whatever was wanted: no `output` then means that there is none. Who knows only *that*
 *   an execution has ended looks further, or leaves the snapshot out of an update.
 */
export interface ExecutionSnapshot {
  readonly status: ExecutionStatus;
  readonly progress?: ExecutionProgress;
  readonly questions?: readonly ExecutionQuestion[];
  /** Only with `succeeded`. */
  readonly output?: ExecutionOutput;
  /** With `failed`, and with `cancelled` where the backend says why. */
  readonly failure?: ExecutionFailure;
  /** The backend's own page for this execution. */
  readonly url?: string;
  /** Epoch milliseconds. */
  readonly startedAt?: number;
  /** Epoch milliseconds. */
  readonly endedAt?: number;
  /** Epoch milliseconds at which the backend expects the end, when it says. The engine looks more often around it. */
  readonly expectedEndAt?: number;
  readonly children?: readonly ExecutionChild[];
}

/** True for a status that a backend does not leave by itself. */
export const isEnded = (status: ExecutionStatus): boolean =>
  status === "succeeded" || status === "failed" || status === "cancelled";

import type { JsonObject, JsonValue } from "./json-value.ts";

/** All statuses of an execution. The type and the checks are derived from this list. */
export const executionStatuses = ["queued", "running", "waiting", "succeeded", "failed", "cancelled"] as const;

/** The state of an execution at its backend. The words are deliberately not those of any MCP wire. */
export type ExecutionStatus = (typeof executionStatuses)[number];

/** How far an execution has come. The job chooses the unit (frames, files, steps). */
export interface ExecutionProgress {
  readonly done?: number;
  readonly total?: number;
  readonly message?: string;
}

/** A question that a person must answer before the execution goes on. */
export interface ExecutionQuestion {
  /**
   * Identifies this question, and no other of the execution: a job that asks twice under one name asks two questions (`approve#2`, `sfn:17`,
   * `gh:<environment>:<attempt>`). The engine mints another key for clients.
   */
  readonly id: string;
  /** The text for the person. */
  readonly message: string;
  /** JSON Schema of the content of an `accept`. Absent: an `accept` has no content. */
  readonly schema?: JsonObject;
  /** A web page where the person acts instead of filling in a form. */
  readonly url?: string;
  /** What `answer` needs and no client may see (task token, callback URL). It is stored separately, encrypted when a key is configured. */
  readonly secret?: string;
  /** When the backend stops waiting for the answer (epoch milliseconds). */
  readonly expiresAt?: number;
  /** If present, the backend stops waiting unless `heartbeat` is called at least once in this time (milliseconds). */
  readonly heartbeatMs?: number;
}

/** What an execution produced. */
export type ExecutionOutput =
  | { readonly kind: "json"; readonly value: JsonValue }
  | { readonly kind: "text"; readonly text: string }
  /** The output is too large for a snapshot, and the engine reads it with `readOutput`. `bytes` is present if the size is known. */
  | { readonly kind: "stream"; readonly bytes?: number; readonly mediaType: "application/json" | "text/plain" };

/** An output of more bytes than this should be a `stream`. */
export const inlineOutputBytes = 65_536;

/** Why an execution failed. */
export interface ExecutionFailure {
  /** `job`: the work itself failed. `protocol`: the call could not be carried out, and is answered with a JSON-RPC error. */
  readonly kind: "job" | "protocol";
  /** One line for a person, such as `exit code 2: no such file`. */
  readonly reason: string;
  /** The backend's code of the failure (`States.Timeout`, `ENOENT`). */
  readonly code?: string;
  /** More text for a person, such as a stack or the end of a log. */
  readonly detail?: string;
}

/** A part of an execution (workflow step, child job). */
export interface ExecutionChild {
  readonly name: string;
  readonly status: ExecutionStatus;
  readonly url?: string;
}

/**
 * An execution at one moment.
 *
 * - `waiting` means that the execution goes on once a person answers one of its `questions`. Any other wait is `queued` or `running`.
 * - If `questions` is absent, nothing is known about questions. If it is an empty list, no question is open.
 * - The snapshot of an ended execution is complete, whatever was wanted: without `output` the execution produced none. An adapter that knows
 *   only that an execution has ended inspects it further, or leaves the snapshot out of its update.
 */
export interface ExecutionSnapshot {
  readonly status: ExecutionStatus;
  readonly progress?: ExecutionProgress;
  readonly questions?: readonly ExecutionQuestion[];
  /** Present only with `succeeded`. */
  readonly output?: ExecutionOutput;
  /** Present with `failed`, and with `cancelled` if the backend says why. */
  readonly failure?: ExecutionFailure;
  /** The page of the backend's console for this execution. */
  readonly url?: string;
  /** Epoch milliseconds. */
  readonly startedAt?: number;
  /** Epoch milliseconds. */
  readonly endedAt?: number;
  /** When the backend expects the end (epoch milliseconds). The engine inspects more often around that time. */
  readonly expectedEndAt?: number;
  readonly children?: readonly ExecutionChild[];
}

/** True for a status that is final at the backend. */
export const isEnded = (status: ExecutionStatus): boolean =>
  status === "succeeded" || status === "failed" || status === "cancelled";

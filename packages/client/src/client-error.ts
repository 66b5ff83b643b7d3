/**
 * Every way a call can come to no result. The list is closed.
 *
 * - `timeout`, `detached`: only the wait is over; the task goes on and `taskId` resumes it.
 * - `cancelled`: the task was cancelled, by whomever.
 * - `failed`: the task ended without a result; the message is the server's. A tool that reports a failure (`isError`) is
 *   a result.
 * - `expired`: the server does not keep the task any more. `not_found`: it does not know the ID, or not for this caller.
 * - `refused`: the server answered the call with a JSON-RPC error, which is in `rpc`.
 * - `unreachable`: the server could not be asked for as long as the client is patient.
 * - `outcome_unknown`: the connection broke before the answer, on a wire where asking again could run the tool twice; or
 *   the call was cancelled while the server waited for an answer to a question of 2026-07-28, and so had no request open
 *   that could be cancelled. The tool may go on.
 * - `session_lost`: the server does not know the session any more, and there is no `reconnect`.
 * - `unsupported`: the wire or the server cannot do this. `invalid_input`: an option or argument of ours is wrong.
 * - `bad_response`: the server answered something that the protocol does not allow.
 */
export type TaskClientErrorCode =
  | "timeout"
  | "detached"
  | "cancelled"
  | "failed"
  | "expired"
  | "not_found"
  | "refused"
  | "unreachable"
  | "outcome_unknown"
  | "session_lost"
  | "unsupported"
  | "invalid_input"
  | "bad_response";

/** A JSON-RPC error as the server sent it. */
export interface RpcFault {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface TaskClientErrorDetails {
  /** The task, where its ID is known: `resume` takes it. */
  readonly taskId?: string | undefined;
  readonly rpc?: RpcFault | undefined;
  /** Milliseconds that the server asked to wait for. */
  readonly retryAfterMs?: number | undefined;
  /** True when the request certainly never reached the server, or was turned away. */
  readonly notSent?: boolean;
  /** The HTTP status, where one was the cause. */
  readonly httpStatus?: number | undefined;
  readonly cause?: unknown;
}

const mark = Symbol.for("taskbridge.TaskClientError");

/** The one error class of this package, recognised by a brand: two copies of the package understand each other. */
export class TaskClientError extends Error {
  override readonly name: string = "TaskClientError";
  readonly code: TaskClientErrorCode;
  readonly taskId: string | undefined;
  readonly rpc: RpcFault | undefined;
  readonly retryAfterMs: number | undefined;
  readonly notSent: boolean;
  readonly httpStatus: number | undefined;

  constructor(code: TaskClientErrorCode, message: string, details: TaskClientErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.taskId = details.taskId;
    this.rpc = details.rpc;
    this.retryAfterMs = details.retryAfterMs;
    this.notSent = details.notSent ?? false;
    this.httpStatus = details.httpStatus;
    Object.defineProperty(this, mark, { value: true });
  }
}

/** True for a TaskClientError of any copy of this package; with a code, only for that code. */
export const isTaskClientError = (value: unknown, code?: TaskClientErrorCode): value is TaskClientError =>
  typeof value === "object" &&
  value !== null &&
  (value as Record<symbol, unknown>)[mark] === true &&
  (code === undefined || (value as TaskClientError).code === code);

/** The same error, saying which task it is about. Errors of others are given back as they are. */
export const aboutTask = (error: unknown, taskId: string | undefined): unknown =>
  taskId !== undefined && isTaskClientError(error) && error.taskId === undefined
    ? new TaskClientError(error.code, error.message, { ...error, taskId, cause: error.cause ?? error })
    : error;

/** Every way something can go wrong in the bridge. The list is closed: wires map each code in one pure file. */
export type BridgeErrorCode =
  | "invalid_input"
  | "not_found"
  | "unsupported"
  | "conflict"
  | "denied"
  | "throttled"
  | "unavailable"
  | "outcome_unknown"
  | "bad_response"
  | "misconfigured"
  | "limit_exceeded"
  | "internal";

/**
 * Whether the same call may succeed when it is simply made again.
 * `later`: yes, after a pause. `never`: not without a change by somebody. `unknown`: the first call may have taken
 * effect, so only an idempotent operation may be repeated.
 */
export const retryability: Readonly<Record<BridgeErrorCode, "later" | "never" | "unknown">> = {
  invalid_input: "never",
  not_found: "never",
  unsupported: "never",
  conflict: "never",
  denied: "never",
  throttled: "later",
  unavailable: "later",
  outcome_unknown: "unknown",
  bad_response: "unknown",
  misconfigured: "never",
  limit_exceeded: "later",
  internal: "unknown",
};

/** What is known about an error beside its code and message. */
export interface BridgeErrorDetails {
  /** The adapter instance that failed, when one did. */
  readonly adapterId?: string;
  /** The contract verb that failed, for example `start`. */
  readonly operation?: string;
  /** True when the request certainly never reached the backend, so that even a non-idempotent call may be repeated. */
  readonly notSent?: boolean;
  /** Milliseconds to wait before trying again, when the backend said so. */
  readonly retryAfterMs?: number;
  /** Facts for the caller, safe to show: a field path, open task IDs. Never a secret. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

const mark = Symbol.for("taskbridge.BridgeError");

/**
 * The one error class of the bridge. Messages say what, where and what was got, and never contain a secret.
 * Recognised by a brand rather than by `instanceof`, so that two copies of this package understand each other.
 */
export class BridgeError extends Error {
  override readonly name: string = "BridgeError";
  readonly code: BridgeErrorCode;
  readonly adapterId: string | undefined;
  readonly operation: string | undefined;
  readonly notSent: boolean;
  readonly retryAfterMs: number | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: BridgeErrorCode, message: string, details: BridgeErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.adapterId = details.adapterId;
    this.operation = details.operation;
    this.notSent = details.notSent ?? false;
    this.retryAfterMs = details.retryAfterMs;
    this.data = details.data;
    Object.defineProperty(this, mark, { value: true });
  }
}

/** True for a BridgeError of any copy of this package. */
export const isBridgeError = (value: unknown): value is BridgeError =>
  typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[mark] === true;

/** It is the store's trouble, and no task's. */
const storeUnavailable = "the server cannot use its store of tasks at present; the tasks go on; try again later";

const inward: ReadonlySet<BridgeErrorCode> = new Set(["unavailable", "misconfigured", "bad_response", "internal"]);

/** Whether an error is about the store, which is the operator's business. */
export const isStoreTrouble = ({ adapterId, operation, code }: BridgeError): boolean =>
  adapterId === undefined && operation !== undefined && inward.has(code);

/** Whether the store could not be reached, was too slow, or did not tell what became of a write. */
export const isStoreUnavailable = (error: unknown): boolean =>
  isBridgeError(error) && error.code === "unavailable" && error.adapterId === undefined;

/**
 * What a caller may be told of an error. A failing store names its file or its server, which is the operator's business;
 * an adapter's errors are about the caller's own execution.
 */
export const toPublicMessage = (error: BridgeError): string => {
  if (error.code === "internal") return "Internal error";
  return isStoreTrouble(error) ? storeUnavailable : error.message;
};

/** The value itself when it is a BridgeError, else one with code `internal` that has it as its cause. */
export const toBridgeError = (value: unknown, details: BridgeErrorDetails = {}): BridgeError => {
  if (isBridgeError(value)) return value;
  const message = value instanceof Error ? value.message : String(value);
  return new BridgeError("internal", message, { ...details, cause: value });
};

/** All kinds of errors. The list is closed: each wire maps every code. */
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
 * Whether a call may succeed when it is repeated. `later`: yes, after a pause. `never`: only after a person has changed something.
 * `unknown`: the first call may have taken effect, so that only an idempotent operation may be repeated.
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

/** What is known about an error in addition to its code and message. */
export interface BridgeErrorDetails {
  /** The adapter instance that failed. Absent: the error is not about an adapter. */
  readonly adapterId?: string;
  /** The verb of the contract that failed, for example `start`. */
  readonly operation?: string;
  /** True when the request certainly never reached the backend, so that even a non-idempotent call may be repeated. */
  readonly notSent?: boolean;
  /** How long the backend asked to wait before the next attempt (milliseconds). */
  readonly retryAfterMs?: number;
  /** Facts for the caller, safe to show: a field path, open task IDs. Never a secret. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

const mark = Symbol.for("taskbridge.BridgeError");

/**
 * The only error class of taskbridge. A message says what failed, where, and which value was received. It never contains a secret. Code
 * recognises the class by a brand instead of `instanceof`, so that two copies of this package recognise each other's errors.
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

/** What a caller reads when the store fails: the tasks themselves are not affected. */
const storeUnavailable = "the server cannot use its store of tasks at present; the tasks go on; try again later";

const inward: ReadonlySet<BridgeErrorCode> = new Set(["unavailable", "misconfigured", "bad_response", "internal"]);

/** Whether an error is about the store, which only the operator can repair. */
export const isStoreTrouble = ({ adapterId, operation, code }: BridgeError): boolean =>
  adapterId === undefined && operation !== undefined && inward.has(code);

/** Whether the store could not be reached, was too slow, or did not report the outcome of a write. */
export const isStoreUnavailable = (error: unknown): boolean =>
  isBridgeError(error) && error.code === "unavailable" && error.adapterId === undefined;

/**
 * The message of an error as a caller may read it. The message of a store's error may name the store's file or server, so that the caller
 * gets a general sentence instead. The message of an adapter's error is about the caller's own execution, and is passed on.
 */
export const toPublicMessage = (error: BridgeError): string => {
  if (error.code === "internal") return "Internal error";
  return isStoreTrouble(error) ? storeUnavailable : error.message;
};

/** Returns the value if it is a BridgeError, and otherwise an `internal` error with the value as its cause. */
export const toBridgeError = (value: unknown, details: BridgeErrorDetails = {}): BridgeError => {
  if (isBridgeError(value)) return value;
  const message = value instanceof Error ? value.message : String(value);
  return new BridgeError("internal", message, { ...details, cause: value });
};

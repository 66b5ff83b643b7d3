import { type BridgeError, type BridgeErrorCode, toPublicMessage } from "@taskbridge/core";

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

const invalidParams = -32_602;
const internalError = -32_603;

/** The specification keeps all of -32768 to -32000 for others; this reads like the HTTP status it means. */
export const limitExceededCode = 429;

const codes: Readonly<Record<BridgeErrorCode, number>> = {
  invalid_input: invalidParams,
  not_found: invalidParams,
  unsupported: invalidParams,
  conflict: invalidParams,
  limit_exceeded: limitExceededCode,
  denied: internalError,
  throttled: internalError,
  unavailable: internalError,
  outcome_unknown: internalError,
  bad_response: internalError,
  misconfigured: internalError,
  internal: internalError,
};

/** Facts that a caller may see. */
const shown = ["path", "openTaskIds", "scope", "limit"] as const;

/** An error of the bridge as a JSON-RPC error. What went wrong inside (`internal`, causes, stacks) is not told. */
export const toRpcError = (error: BridgeError): RpcError => {
  const facts = Object.fromEntries(
    shown.filter((name) => error.data?.[name] !== undefined).map((name) => [name, error.data?.[name]]),
  );
  const data = {
    ...(codes[error.code] === invalidParams ? {} : { reason: error.code }),
    ...facts,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  };
  return {
    code: codes[error.code],
    message: toPublicMessage(error),
    ...(Object.keys(data).length === 0 ? {} : { data }),
  };
};

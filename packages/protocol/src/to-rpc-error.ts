import { type BridgeError, type BridgeErrorCode, toPublicMessage } from "@taskbridge/core";
import { internalErrorCode, invalidParamsCode, limitExceededCode, unavailableCode } from "./rpc-codes.ts";

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

const codes: Readonly<Record<BridgeErrorCode, number>> = {
  invalid_input: invalidParamsCode,
  not_found: invalidParamsCode,
  unsupported: invalidParamsCode,
  conflict: invalidParamsCode,
  limit_exceeded: limitExceededCode,
  denied: internalErrorCode,
  throttled: internalErrorCode,
  unavailable: unavailableCode,
  outcome_unknown: internalErrorCode,
  bad_response: internalErrorCode,
  misconfigured: internalErrorCode,
  internal: internalErrorCode,
};

/** What is away is asked for again after this long (milliseconds), where nobody knows better. */
const unavailableRetryMs = 1_000;

/** Facts that a caller may see. */
const shown = ["path", "openTaskIds", "scope", "limit"] as const;

/** An error of the bridge as a JSON-RPC error. What went wrong inside (`internal`, causes, stacks) is not told. */
export const toRpcError = (error: BridgeError): RpcError => {
  const facts = Object.fromEntries(
    shown.filter((name) => error.data?.[name] !== undefined).map((name) => [name, error.data?.[name]]),
  );
  const retryAfterMs = error.retryAfterMs ?? (error.code === "unavailable" ? unavailableRetryMs : undefined);
  const data = {
    ...(codes[error.code] === invalidParamsCode ? {} : { reason: error.code }),
    ...facts,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  return {
    code: codes[error.code],
    message: toPublicMessage(error),
    ...(Object.keys(data).length === 0 ? {} : { data }),
  };
};

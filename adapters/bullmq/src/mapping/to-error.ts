import { BridgeError, type BridgeErrorCode, isBridgeError } from "@taskbridge/core/adapter";

/** What Redis refuses before it has done anything, by the first word of its answer. */
const refusals: Readonly<Record<string, BridgeErrorCode>> = {
  WRONGPASS: "denied",
  NOAUTH: "denied",
  NOPERM: "denied",
  OOM: "unavailable",
  LOADING: "unavailable",
  MISCONF: "unavailable",
  READONLY: "unavailable",
  MASTERDOWN: "unavailable",
  NOREPLICAS: "unavailable",
  BUSY: "unavailable",
  MOVED: "misconfigured",
  CROSSSLOT: "misconfigured",
};

export interface ErrorPlace {
  readonly operation: string;
  /** Host and port. */
  readonly address: string;
  /** Something may have left for the backend before it failed. */
  readonly wasSent: boolean;
  /** When given up after the send: `outcome_unknown` for what changes something. */
  readonly ifSent: "unavailable" | "outcome_unknown";
}

/** An error of the Redis client or of Redis itself. */
export const toError = (error: unknown, { operation, address, wasSent, ifSent }: ErrorPlace): BridgeError => {
  if (isBridgeError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  const told = message === "" ? ((error as { code?: string }).code ?? "no reason given") : message;
  const refusal = refusals[told.split(" ", 1)[0] ?? ""];
  const isAbort = error instanceof DOMException && error.name === "AbortError";
  const text = `${isAbort ? "no answer from Redis" : "Redis"} at ${address}${isAbort ? " in time" : `: ${told}`}`;
  if (refusal !== undefined) return new BridgeError(refusal, text, { operation, notSent: true, cause: error });
  if (!wasSent) return new BridgeError("unavailable", text, { operation, notSent: true, cause: error });
  return new BridgeError(ifSent, text, { operation, cause: error });
};

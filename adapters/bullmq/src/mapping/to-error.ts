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

export interface ErrorDetails {
  readonly operation: string;
  /** Something may have left for the backend before it failed. */
  readonly wasSent: boolean;
  /** A part of it was carried out before it failed. */
  readonly hasChanged: boolean;
  /** When given up after the send: `outcome_unknown` for what changes something. */
  readonly ifSent: "unavailable" | "outcome_unknown";
}

/** What Redis answered, so that it is there. */
export const isReply = (error: unknown): boolean => error instanceof Error && error.name === "ReplyError";

const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";

const codeOf = (error: unknown): string | undefined => {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && /^E[A-Z]+$/.test(code) ? code : undefined;
};

const noPassword = "NOAUTH: it wants a password, and none is set";

const textOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  // Its own text is about a command of Redis.
  if (message.startsWith("NOAUTH ")) return noPassword;
  return message === "" ? (codeOf(error) ?? "no reason given") : message;
};

const refusalOf = (error: unknown): string | undefined =>
  Object.keys(refusals).find((word) => /^[A-Z]+/.exec(textOf(error))?.[0] === word);

/** For operators: where it failed, and in whose words. `address`: host and port. */
export const toFinding = (error: unknown, address: string): string => {
  if (isBridgeError(error)) return error.message;
  return isAbort(error) ? `no answer from Redis at ${address} in time` : `Redis at ${address}: ${textOf(error)}`;
};

/** For callers, models among them: what Redis and its client say may name hosts and users, so it stays in the cause. */
const toMessage = (error: unknown): string => {
  if (isAbort(error)) return "no answer from Redis in time";
  const refusal = refusalOf(error);
  if (refusal === "NOAUTH") return "Redis wants a password, and none is set (`url`, `connection`)";
  if (refusal !== undefined) return `Redis refuses: ${refusal}`;
  const code = codeOf(error);
  return code === undefined ? "Redis failed, or the connection to it" : `Redis cannot be reached: ${code}`;
};

/** Refused within a script, which may have written before. */
const isWithinScript = (error: unknown): boolean => /\bscript\b/.test(textOf(error));

/** An error of the Redis client or of Redis itself. */
export const toError = (error: unknown, { operation, wasSent, hasChanged, ifSent }: ErrorDetails): BridgeError => {
  if (isBridgeError(error)) return error;
  const refusal = refusalOf(error);
  const code = refusal === undefined ? undefined : refusals[refusal];
  // Memory, role and load are asked before a script's first write, a permission at each command.
  const isRefused = code !== undefined && !hasChanged && !(refusal === "NOPERM" && isWithinScript(error));
  const notSent = isRefused || !wasSent;
  return new BridgeError(code ?? (wasSent ? ifSent : "unavailable"), toMessage(error), {
    operation,
    notSent,
    cause: error,
  });
};

import { BridgeError, type BridgeErrorCode, isBridgeError } from "@taskbridge/core/store";

/** By the first word of what Redis answers; from a script of Redis 6 it stands somewhere within. */
const refusals: readonly (readonly [word: string, code: BridgeErrorCode, meaning: string])[] = [
  ["NOAUTH", "misconfigured", "wants a password"],
  ["WRONGPASS", "misconfigured", "does not take this user and password"],
  ["NOPERM", "misconfigured", "does not permit this user what the store needs"],
  ["READONLY", "unavailable", "is a replica at present"],
  ["LOADING", "unavailable", "is loading its data"],
  ["OOM", "unavailable", "has no memory left"],
  ["BUSY", "unavailable", "is busy with a script"],
  ["MISCONF", "unavailable", "cannot write to its disk"],
  ["MASTERDOWN", "unavailable", "has lost its master"],
  ["NOREPLICAS", "unavailable", "has too few replicas to take writes"],
  ["CLUSTERDOWN", "unavailable", "has lost a part of its cluster"],
  ["TRYAGAIN", "unavailable", "is moving keys between its nodes"],
  ["MOVED", "unavailable", "is moving keys between its nodes"],
  ["ASK", "unavailable", "is moving keys between its nodes"],
  ["CROSSSLOT", "misconfigured", "is a cluster, and this client does not know it"],
  ["WRONGTYPE", "misconfigured", "has something else under one of the store's keys; choose another prefix"],
];

/** What Redis itself has answered. */
const isReply = (error: unknown): error is Error => error instanceof Error && error.name === "ReplyError";

const refusalOf = (error: unknown): (typeof refusals)[number] | undefined =>
  error instanceof Error
    ? refusals.find(([word]) => new RegExp(`(^|[^A-Za-z])${word}([^A-Za-z]|$)`).test(error.message))
    : undefined;

/** How ioredis says that a connection was lost, or not there when something was to be sent. */
const lost = /^(Connection is closed|Stream isn't writeable|Reached the max retries per request|Cluster isn't ready)/;

/** True for what no waiting helps against. */
export const isLoginRefused = (error: unknown): boolean => refusalOf(error)?.[1] === "misconfigured";

/** True when the server has become a replica, so that its successor must be looked for. */
export const isReadOnly = (error: unknown): boolean => refusalOf(error)?.[0] === "READONLY";

/** Names the server (`address`: host and port) and says in its words what was wrong. A BridgeError comes back as it is. */
export const toError = (error: unknown, address: string, operation: string): BridgeError => {
  if (isBridgeError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  // The client's own error holds the command with its arguments, a password among them.
  const cause = new Error(message);
  const refusal = refusalOf(error);
  if (refusal !== undefined) {
    const [word, code, meaning] = refusal;
    return new BridgeError(code, `Redis at ${address} ${meaning} (${word})`, { operation, cause });
  }
  if (isReply(error)) return new BridgeError("internal", `Redis at ${address}: ${message}`, { operation, cause });
  const problem = lost.test(message) ? "the connection was lost" : message;
  return new BridgeError("unavailable", `Redis at ${address} cannot be reached: ${problem}`, { operation, cause });
};

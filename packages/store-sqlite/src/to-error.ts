import { BridgeError, type BridgeErrorCode, isBridgeError } from "@taskbridge/core/store";

/** By SQLite's primary result code, see https://sqlite.org/rescode.html */
const codes: readonly (readonly [prefix: string, code: BridgeErrorCode, meaning: string])[] = [
  ["SQLITE_BUSY", "unavailable", "is locked by another process"],
  ["SQLITE_FULL", "unavailable", "cannot grow: the disk is full or its size limit is reached"],
  ["SQLITE_IOERR", "unavailable", "cannot be read or written"],
  ["SQLITE_CANTOPEN", "unavailable", "cannot be opened"],
  ["SQLITE_READONLY", "misconfigured", "is read-only"],
  ["SQLITE_PERM", "misconfigured", "may not be used"],
  ["SQLITE_NOTADB", "misconfigured", "is not a SQLite database"],
  ["SQLITE_CORRUPT", "misconfigured", "is damaged; restore it from a backup"],
];

/** By its code: better-sqlite3's error class differs between realms and between copies of the package. */
const isSqliteError = (error: unknown): error is { readonly code: string; readonly message: string } =>
  typeof error === "object" &&
  error !== null &&
  String((error as { readonly code?: unknown }).code).startsWith("SQLITE_");

/** True when another connection holds the lock, so that the same work may succeed in a moment. */
export const isLocked = (error: unknown): boolean =>
  isSqliteError(error) && (error.code.startsWith("SQLITE_BUSY") || error.code === "SQLITE_PROTOCOL");

/** Names the file and what SQLite said. A BridgeError comes back as it is. */
export const toError = (error: unknown, path: string, operation: string): BridgeError => {
  if (isBridgeError(error)) return error;
  if (!isSqliteError(error))
    return new BridgeError("internal", `${path}: ${String(error)}`, { operation, cause: error });
  const [, code, meaning] = codes.find(([prefix]) => error.code.startsWith(prefix)) ?? ["", "internal", "failed"];
  return new BridgeError(code, `${path} ${meaning} (${error.code}: ${error.message})`, { operation, cause: error });
};

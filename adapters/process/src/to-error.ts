import { BridgeError, type BridgeErrorDetails, isBridgeError } from "@taskbridge/core/adapter";
import { errnoOf } from "./job-folder.ts";

/** Somebody has to change something before the same call can work. */
const lasting = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "EISDIR", "ENAMETOOLONG", "ELOOP"]);

/**
 * An error of the file system, with the path it is about, which is `location` where the system does not say. A full disk is
 * `unavailable`, since it may be emptied.
 */
export const toError = (
  error: unknown,
  operation: string,
  location: string,
  details: BridgeErrorDetails = {},
): BridgeError => {
  if (isBridgeError(error)) return error;
  const errno = errnoOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (errno === undefined) return new BridgeError("internal", message, { operation, cause: error, ...details });
  const code = lasting.has(errno) ? "misconfigured" : "unavailable";
  return new BridgeError(code, message.includes(location) ? message : `${message} (${location})`, {
    operation,
    cause: error,
    ...(code === "misconfigured" ? { data: { path: "directory" } } : {}),
    ...details,
  });
};

import { toBridgeError } from "../../contract/bridge-error.ts";
import type { AuditEvent } from "./audit.ts";
import { isStoreAway } from "./until-stored.ts";

/** What is told of work that failed although no backend was at fault. A store that is away is no fault of ours. */
export const toFaultEvent = (error: unknown, where?: string): Pick<AuditEvent, "kind" | "message"> => {
  const { message } = toBridgeError(error);
  if (isStoreAway(error)) return { kind: "store_unavailable", message };
  return { kind: "internal_error", message: where === undefined ? message : `${where}: ${message}` };
};

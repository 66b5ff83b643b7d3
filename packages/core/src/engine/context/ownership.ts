import { asOwnerId, type OwnerId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { ListScope } from "../../contract/task-store.ts";
import { taskExpired, taskNotFound } from "./task-id.ts";

/**
 * As whom a verb is called. `owner: null` is a server without owners: whoever holds the ID has access, and nothing can
 * be listed. The operator sees everything.
 */
export type Access = ListScope;

/** The owner of all tasks where there is one user: stdio, and loopback without auth. */
export const localOwner: OwnerId = asOwnerId("local");

/** Whether a record is among those that this caller may know of. */
export const isOf = (record: TaskRecord, access: Access): boolean =>
  "operator" in access || record.owner === access.owner;

/** The record, if this caller may see it. Someone else's answers exactly like an unknown one. */
export const requireVisible = (record: TaskRecord | undefined, access: Access): TaskRecord => {
  if (record === undefined || !isOf(record, access) || record.deleted === true) throw taskNotFound();
  if (record.expired === true) throw taskExpired();
  return record;
};

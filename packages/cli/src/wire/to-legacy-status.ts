import type { TaskStatus } from "../task-source.ts";
import type { Members } from "./members.ts";
import { toStatus } from "./to-status.ts";

/** What `tasks/result` has told about a task that has ended. */
export type LegacyOutcome = { readonly result: Members } | { readonly error: Members };

/** A task of revision 2025-11-25, whose outcome is apart from it. */
export const toLegacyStatus = (task: Members, outcome?: LegacyOutcome): TaskStatus =>
  toStatus({ ...task, ttlMs: task["ttl"], ...(outcome ?? toldOutcome(task)) });

/** Servers put the cause of a failure into the message, so that it is known without asking for the result. */
const toldOutcome = ({ status, statusMessage }: Members): Members =>
  status === "failed" ? { error: { message: statusMessage ?? "failed" } } : {};

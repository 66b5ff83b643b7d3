import type { TaskRecord } from "../../contract/task-record.ts";

/** The kinds of things an operator may want to know afterwards. */
export type AuditKind =
  | "task_created"
  | "task_deduplicated"
  | "start_sent"
  | "start_accepted"
  | "start_refused"
  | "start_retried"
  | "start_adopted"
  | "task_ended"
  | "late_outcome"
  | "task_expired"
  | "task_deleted"
  | "task_removed"
  | "cancel_requested"
  | "cancel_sent"
  | "effect_failed"
  | "effect_dropped"
  | "question_asked"
  | "question_answered"
  | "question_timed_out"
  | "answer_rejected"
  | "unmatched_update"
  | "execution_missing"
  | "adapter_log"
  | "adapter_suspect"
  | "adapter_unavailable"
  | "watch_ended"
  | "lead_gained"
  | "lead_lost"
  | "store_unavailable"
  | "internal_error";

/** One structured event. Never holds inputs, outputs or secrets. */
export interface AuditEvent {
  readonly kind: AuditKind;
  /** Epoch milliseconds by the store's clock. */
  readonly at: number;
  readonly taskId?: string;
  readonly owner?: string | null;
  readonly tool?: string;
  readonly adapterId?: string;
  readonly execution?: string;
  readonly message?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Takes events; must not throw and must not block. */
export type AuditSink = (event: AuditEvent) => void;

/** The members of an event that say which task it is about. */
export const aboutTask = (
  record: TaskRecord,
): Pick<AuditEvent, "taskId" | "owner" | "tool" | "adapterId" | "execution"> => ({
  taskId: record.taskId,
  owner: record.owner,
  tool: record.tool,
  adapterId: record.adapterId,
  ...(record.ref === undefined ? {} : { execution: record.ref }),
});

import type { AuditEvent, AuditKind } from "@taskbridge/core";
import type { Logger } from "pino";

/** What an operator should see even when only warnings are kept. */
const warnings: ReadonlySet<AuditKind> = new Set<AuditKind>([
  "adapter_suspect",
  "adapter_unavailable",
  "effect_dropped",
  "effect_failed",
  "internal_error",
  "store_unavailable",
  "watch_ended",
]);

/** Told with every try while a backend or the store is away, or with each event of jobs that another server has started. */
const repeated: ReadonlySet<AuditKind> = new Set<AuditKind>([
  "adapter_unavailable",
  "internal_error",
  "store_unavailable",
  "unmatched_update",
  "watch_ended",
]);

/** Which of several servers does what one does for all: a matter of course, wherever there is but one. */
const routine: ReadonlySet<AuditKind> = new Set<AuditKind>(["lead_gained", "lead_lost"]);

/** After this long, the same trouble is worth another warning (milliseconds). */
const quietMs = 600_000;

/** Writes audit events to a log. That a backend or the store is away is one warning for each reason, and otherwise for debugging. */
export const auditLog = (log: Pick<Logger, "debug" | "info" | "warn">): ((event: AuditEvent) => void) => {
  const warnedAt = new Map<string, number>();
  const isNew = ({ kind, adapterId, message, at }: AuditEvent): boolean => {
    if (!repeated.has(kind)) return true;
    const trouble = JSON.stringify([kind, adapterId, message]);
    if (at - (warnedAt.get(trouble) ?? Number.NEGATIVE_INFINITY) < quietMs) return false;
    // Messages may hold what changes with every try: those of hours are not kept.
    for (const [known, since] of warnedAt) if (at - since >= quietMs) warnedAt.delete(known);
    warnedAt.set(trouble, at);
    return true;
  };
  return (event) => {
    const { kind, message = kind, ...fields } = event;
    const level = routine.has(kind) || !isNew(event) ? "debug" : warnings.has(kind) ? "warn" : "info";
    log[level]({ event: kind, ...fields }, message);
  };
};

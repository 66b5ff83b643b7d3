import { toBridgeError } from "../contract/bridge-error.ts";
import { isEnded } from "../contract/execution-snapshot.ts";
import type { AdapterId, TaskId } from "../contract/identity.ts";
import type { TaskRecord } from "../contract/task-record.ts";
import type { InspectItem, InspectOutcome } from "../contract/workflow-adapter.ts";
import { callAdapter } from "./call-adapter.ts";
import type { EngineContext } from "./engine-context.ts";
import { pollIntervalMs } from "./poll-interval.ts";
import { takeOutcome } from "./take-outcome.ts";

/** Decides when executions are looked at, so that any number of readers costs a backend no more than one. */
export interface InspectScheduler {
  /** Milliseconds between two looks at this execution, which is also what clients are told. */
  intervalOf(record: TaskRecord): number;
  /** Makes the record as fresh as its interval demands, by a look under way or a new one. Undefined: it is. */
  refresh(record: TaskRecord): Promise<void> | undefined;
  /** Looks now, or right after the look under way, whatever the interval. */
  lookNow(record: TaskRecord, want?: InspectItem["want"]): Promise<void>;
  /** Milliseconds since the epoch of this process's last look. */
  lastLookedAt(taskId: TaskId): number | undefined;
  lastError(taskId: TaskId): string | undefined;
  penaltyMs(adapterId: AdapterId): number;
  /** Forgets what is remembered of tasks that were not looked at since. */
  prune(before: number): void;
}

interface Look {
  startedAt: number;
  inFlight?: Promise<void>;
  error?: string;
}

interface Ticket {
  readonly record: TaskRecord;
  readonly want: InspectItem["want"];
  done(): void;
}

interface Line {
  readonly waiting: Ticket[];
  running: number;
  /** Doubles with each refusal of the backend, and is gone with the first success. */
  penaltyMs: number;
  penaltyUntil: number;
  /** No call before this, where the backend limits calls by the minute. */
  nextCallAt: number;
  flushPlanned: boolean;
}

/** Batches under way at once for one adapter. */
const mostBatches = 4;

export const inspectScheduler = (engine: EngineContext): InspectScheduler => {
  const looks = new Map<TaskId, Look>();
  const lines = new Map<AdapterId, Line>();

  const lineOf = (adapterId: AdapterId): Line => {
    const line = lines.get(adapterId) ?? {
      waiting: [],
      running: 0,
      penaltyMs: 0,
      penaltyUntil: 0,
      nextCallAt: 0,
      flushPlanned: false,
    };
    lines.set(adapterId, line);
    return line;
  };

  const intervalOf = (record: TaskRecord): number => {
    const now = engine.store.now();
    const traits = engine.adapters.get(record.adapterId)?.traits;
    return pollIntervalMs(
      record,
      traits?.minInspectIntervalMs ?? 0,
      now,
      Math.max(0, (lines.get(record.adapterId)?.penaltyUntil ?? 0) - now),
    );
  };

  const enqueue = (record: TaskRecord, want: InspectItem["want"]): Promise<void> => {
    const look: Look = { startedAt: engine.store.now() };
    const line = lineOf(record.adapterId);
    look.inFlight = new Promise<void>((resolve) => {
      const done = (): void => {
        delete look.inFlight;
        resolve();
      };
      line.waiting.push({ record, want, done });
    });
    looks.set(record.taskId, look);
    planFlush(record.adapterId, line, 0);
    return look.inFlight;
  };

  const planFlush = (adapterId: AdapterId, line: Line, delayMs: number): void => {
    if (line.flushPlanned) return;
    line.flushPlanned = true;
    const flushNow = (): void => {
      line.flushPlanned = false;
      flush(adapterId, line);
    };
    // In a microtask at the earliest, so that all who ask in one turn share a batch.
    if (delayMs > 0) engine.clock.schedule(delayMs, flushNow);
    else queueMicrotask(flushNow);
  };

  const flush = (adapterId: AdapterId, line: Line): void => {
    const traits = engine.adapters.get(adapterId)?.traits;
    while (line.waiting.length > 0 && line.running < mostBatches) {
      const now = engine.store.now();
      if (now < line.nextCallAt) {
        planFlush(adapterId, line, line.nextCallAt - now);
        return;
      }
      if (traits?.maxInspectCallsPerMinute !== undefined)
        line.nextCallAt = now + Math.ceil(60_000 / traits.maxInspectCallsPerMinute);
      const batch = line.waiting.splice(0, Math.max(1, traits?.inspectBatch ?? 1));
      line.running++;
      void runBatch(adapterId, line, batch).finally(() => {
        line.running--;
        flush(adapterId, line);
      });
    }
  };

  const runBatch = async (adapterId: AdapterId, line: Line, batch: readonly Ticket[]): Promise<void> => {
    try {
      const outcomes = await inspectBatch(engine, adapterId, batch);
      const missing = outcomes.filter((outcome) => "notFound" in outcome && !outcome.notFound.proven).length;
      const isSuspect = batch.length >= 10 && missing > batch.length / 5;
      if (isSuspect)
        engine.audit({
          kind: "adapter_suspect",
          adapterId,
          message: `${missing} of ${batch.length} executions are not found at once: nothing is concluded from that`,
        });
      setPenalty(line, outcomes);
      await Promise.all(batch.map((ticket, index) => take(ticket, outcomes[index], isSuspect)));
    } catch (error) {
      const known = toBridgeError(error);
      punish(line, known.retryAfterMs ?? 0);
      engine.audit({
        kind: "adapter_unavailable",
        adapterId,
        message: known.message,
        fields: { penaltyMs: line.penaltyMs },
      });
      for (const ticket of batch) noteError(ticket.record.taskId, known.message);
    } finally {
      for (const ticket of batch) ticket.done();
    }
  };

  const take = async (ticket: Ticket, outcome: InspectOutcome | undefined, isSuspect: boolean): Promise<void> => {
    if (outcome === undefined) return noteError(ticket.record.taskId, "the adapter gave no outcome");
    if ("error" in outcome) noteError(ticket.record.taskId, outcome.error.message);
    if ("unavailable" in outcome) noteError(ticket.record.taskId, outcome.unavailable);
    try {
      await takeOutcome(engine, ticket.record, outcome, isSuspect);
    } catch (error) {
      const known = toBridgeError(error);
      noteError(ticket.record.taskId, known.message);
      engine.audit({ kind: "internal_error", taskId: ticket.record.taskId, message: known.message });
    }
  };

  const noteError = (taskId: TaskId, error: string): void => {
    const look = looks.get(taskId);
    if (look !== undefined) look.error = error;
  };

  const punish = (line: Line, retryAfterMs: number): void => {
    line.penaltyMs = Math.min(Math.max(line.penaltyMs * 2, 1_000), 300_000);
    line.penaltyUntil = engine.store.now() + Math.max(line.penaltyMs, retryAfterMs);
  };

  const setPenalty = (line: Line, outcomes: readonly InspectOutcome[]): void => {
    const refused = outcomes.filter((outcome) => "unavailable" in outcome);
    const retryAfterMs = Math.max(
      0,
      ...refused.map((outcome) => ("unavailable" in outcome ? (outcome.retryAfterMs ?? 0) : 0)),
    );
    if (refused.length > 0 && (refused.length === outcomes.length || retryAfterMs > 0)) {
      punish(line, retryAfterMs);
    } else {
      line.penaltyMs = 0;
      line.penaltyUntil = 0;
    }
  };

  const canLook = (record: TaskRecord): boolean =>
    record.ref !== undefined && engine.adapters.get(record.adapterId)?.inspect !== undefined && !engine.closing.aborted;

  const refresh = (record: TaskRecord): Promise<void> | undefined => {
    if (!canLook(record) || isEnded(record.state)) return undefined;
    const look = looks.get(record.taskId);
    if (look?.inFlight !== undefined) return look.inFlight;
    const now = engine.store.now();
    if (look !== undefined && now - look.startedAt < intervalOf(record)) return undefined;
    if ((lines.get(record.adapterId)?.penaltyUntil ?? 0) > now) return undefined;
    return enqueue(record, "detail");
  };

  return {
    intervalOf,
    refresh,
    lookNow: async (record, want = "detail") => {
      if (!canLook(record)) return;
      // What is under way may have begun before the change.
      await looks.get(record.taskId)?.inFlight;
      await (looks.get(record.taskId)?.inFlight ?? enqueue(record, want));
    },
    lastLookedAt: (taskId) => looks.get(taskId)?.startedAt,
    lastError: (taskId) => looks.get(taskId)?.error,
    penaltyMs: (adapterId) => Math.max(0, (lines.get(adapterId)?.penaltyUntil ?? 0) - engine.store.now()),
    prune: (before) => {
      for (const [taskId, look] of looks)
        if (look.inFlight === undefined && look.startedAt < before) looks.delete(taskId);
    },
  };
};

const inspectBatch = (
  engine: EngineContext,
  adapterId: AdapterId,
  batch: readonly Ticket[],
): Promise<readonly InspectOutcome[]> =>
  callAdapter(engine, {
    adapterId,
    operation: "inspect",
    timeoutMs: engine.limits.callTimeoutMs,
    onTimeout: "unavailable",
    run: (adapter, context) => {
      const items = batch.flatMap(({ record, want }): InspectItem[] =>
        record.ref === undefined
          ? []
          : [{ ref: record.ref, want, ...(record.execution === undefined ? {} : { previous: record.execution }) }],
      );
      return adapter.inspect?.(items, context) ?? Promise.resolve([]);
    },
  });

import { isStoreUnavailable, toBridgeError } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import type { AdapterId, TaskId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { InspectItem, InspectOutcome } from "../../contract/workflow-adapter.ts";
import { callAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { toFaultEvent } from "../context/until-stored.ts";
import { createAnomalyDetector } from "./anomaly-detector.ts";
import { applyOutcome } from "./apply-outcome.ts";
import type { Backoff } from "./backoff.ts";
import { type InspectQueue, inspectQueue } from "./inspect-queue.ts";
import { pollIntervalMs } from "./poll-interval.ts";

/** Decides when executions are looked at, so that any number of readers costs a backend no more than one. */
export interface InspectScheduler {
  /** Milliseconds between two looks at this execution, which is also what clients are told. */
  intervalOf(record: TaskRecord): number;
  /** Makes the record as fresh as its interval demands, by a look under way or a new one. Undefined: it is. */
  refresh(record: TaskRecord): Promise<void> | undefined;
  /** Looks now, or right after the look under way, whatever the interval. */
  inspectNow(record: TaskRecord, want?: InspectItem["want"]): Promise<void>;
  /** Milliseconds since the epoch of this process's last look. */
  lastInspectedAt(taskId: TaskId): number | undefined;
  /** Of its last one that asked for details. */
  lastDetailedAt(taskId: TaskId): number | undefined;
  lastError(taskId: TaskId): string | undefined;
  /**
   * Since when nothing is known of an execution that should be known (milliseconds since the epoch): its last look failed, or its
   * backend is left alone. Undefined: it is as fresh as it should be.
   */
  staleSince(record: TaskRecord): number | undefined;
  backoffMs(adapterId: AdapterId): number;
  /** Whether the last looks at this backend failed altogether. */
  isRefused(adapterId: AdapterId): boolean;
  /** Forgets what is remembered of tasks that were not looked at since. */
  prune(before: number): void;
  /** Sends nothing more; who waits for a look that was not sent goes on without. */
  stop(): void;
}

interface Inspection {
  /** When the last look was sent. */
  sentAt?: number;
  /** When the last one was sent that asked for details. */
  detailedAt?: number;
  /** What the one in flight asks for; until it is sent it may ask for more. */
  want: InspectItem["want"];
  /** When the last one was sent that told something. */
  seenAt?: number;
  inFlight?: Promise<void>;
  /** While this process asks whether another has looked within the interval. */
  asking?: Promise<void>;
  /** Another process looks: what it sees is in the record, and until then nobody here asks again. */
  elsewhereUntil?: number;
  /** Ends the look in flight while it has not been sent. */
  giveUp?: (() => void) | undefined;
  error?: string;
}

interface Ticket {
  readonly record: TaskRecord;
  /** When it may be sent at the earliest. */
  readonly dueAt: number;
  readonly inspection: Inspection;
  done(): void;
}

/** The share of the newest look in how long looks take, unless it took longer than those before. */
const newestShare = 0.05;

/** Whoever learns that another process looks asks again after this share of the interval: that one may be gone. */
const elsewhereShare = 0.25;

export const inspectScheduler = (engine: EngineContext): InspectScheduler => {
  const inspections = new Map<TaskId, Inspection>();
  const queues = new Map<AdapterId, InspectQueue<Ticket>>();
  /** How long slow looks take of late, from when they are due until what they tell is written down (milliseconds). */
  const durations = new Map<AdapterId, number>();
  const anomalies = createAnomalyDetector(engine);
  let isStopped = false;

  const queueOf = (adapterId: AdapterId): InspectQueue<Ticket> => {
    const queue =
      queues.get(adapterId) ??
      inspectQueue<Ticket>(engine, adapterId, (batch, backoff) => runBatch(adapterId, backoff, batch));
    queues.set(adapterId, queue);
    return queue;
  };

  const backoffMs = (adapterId: AdapterId): number =>
    Math.max(0, (queues.get(adapterId)?.backoff.until ?? 0) - engine.store.now());

  const floorOf = (record: TaskRecord): number =>
    engine.adapters.get(record.adapterId)?.traits.minInspectIntervalMs ?? 0;

  const intervalOf = (record: TaskRecord): number => {
    const now = engine.store.now();
    const estimatedEndAt = engine.runTimes.expectedEndAt(record);
    const intervalMs = pollIntervalMs(record, floorOf(record), now, backoffMs(record.adapterId), estimatedEndAt);
    // No more is told than can be held.
    return Math.max(intervalMs, Math.ceil(durations.get(record.adapterId) ?? 0));
  };

  const noteDuration = (adapterId: AdapterId, durationMs: number): void => {
    const before = durations.get(adapterId) ?? 0;
    durations.set(adapterId, Math.max(durationMs, before + (durationMs - before) * newestShare));
  };

  const enqueue = (record: TaskRecord, want: InspectItem["want"]): Promise<void> => {
    const inspection: Inspection = inspections.get(record.taskId) ?? { want };
    inspection.want = want;
    inspections.set(record.taskId, inspection);
    const inFlight = new Promise<void>((resolve) => {
      const done = (): void => {
        delete inspection.inFlight;
        delete inspection.giveUp;
        resolve();
      };
      inspection.giveUp = done;
      const now = engine.store.now();
      const delayMs = inspection.sentAt === undefined ? 0 : Math.max(0, inspection.sentAt + floorOf(record) - now);
      queueOf(record.adapterId).push({ record, dueAt: now + delayMs, inspection, done }, delayMs);
    });
    inspection.inFlight = inFlight;
    return inFlight;
  };

  const runBatch = async (adapterId: AdapterId, backoff: Backoff, batch: readonly Ticket[]): Promise<void> => {
    for (const { inspection } of batch) {
      inspection.sentAt = engine.store.now();
      if (inspection.want === "detail") inspection.detailedAt = inspection.sentAt;
      delete inspection.giveUp;
    }
    try {
      const outcomes = await inspectBatch(engine, adapterId, batch);
      const taskIds = batch.map(({ record }) => record.taskId);
      const isAnomalous = anomalies.record(adapterId, taskIds, outcomes);
      backoff.record(outcomes);
      await Promise.all(batch.map((ticket, index) => apply(ticket, outcomes[index], isAnomalous)));
      // One for the batch: its first has waited longest.
      noteDuration(adapterId, engine.store.now() - (batch[0]?.dueAt ?? 0));
    } catch (error) {
      const known = toBridgeError(error);
      backoff.refuse(known.retryAfterMs ?? 0);
      engine.audit({
        kind: "adapter_unavailable",
        adapterId,
        message: known.message,
        fields: { backoffMs: backoff.ms },
      });
      for (const { inspection } of batch) inspection.error = known.message;
    } finally {
      for (const ticket of batch) ticket.done();
    }
  };

  const apply = async (
    { record, inspection }: Ticket,
    outcome: InspectOutcome | undefined,
    isAnomalous: boolean,
  ): Promise<void> => {
    delete inspection.error;
    if (outcome === undefined) {
      inspection.error = "the adapter gave no outcome";
      return;
    }
    if ("error" in outcome) inspection.error = outcome.error.message;
    else if ("unavailable" in outcome) inspection.error = outcome.unavailable;
    else inspection.seenAt = inspection.sentAt ?? 0;
    try {
      await applyOutcome(engine, record, outcome, { inspectedAt: inspection.sentAt ?? 0, isAnomalous });
    } catch (error) {
      // A store that is away says nothing about the backend.
      if (!isStoreUnavailable(error)) inspection.error = toBridgeError(error).message;
      engine.audit({ ...toFaultEvent(error), taskId: record.taskId });
    }
  };

  const canInspect = (record: TaskRecord): boolean =>
    record.ref !== undefined && engine.adapters.get(record.adapterId)?.inspect !== undefined && !isStopped;

  const refresh = (record: TaskRecord): Promise<void> | undefined => {
    if (!canInspect(record) || isEnded(record.state)) return undefined;
    const inspection = inspections.get(record.taskId);
    const isSent = inspection?.inFlight !== undefined && inspection.giveUp === undefined;
    // Nobody waits for what the backend would refuse.
    if (!isSent && backoffMs(record.adapterId) > 0) return undefined;
    if (inspection?.inFlight !== undefined) {
      if (!isSent) inspection.want = "detail";
      return inspection.want === "detail" ? inspection.inFlight : inspection.inFlight.then(() => refresh(record));
    }
    const now = engine.store.now();
    const isFresh = inspection?.detailedAt !== undefined && now - inspection.detailedAt < intervalOf(record);
    if (isFresh || now < (inspection?.elsewhereUntil ?? 0)) return undefined;
    return engine.store.shared ? inspectUnlessElsewhere(record) : enqueue(record, "detail");
  };

  /** Once per interval in all processes that share the store. */
  const inspectUnlessElsewhere = (record: TaskRecord): Promise<void> => {
    const inspection: Inspection = inspections.get(record.taskId) ?? { want: "detail" };
    inspections.set(record.taskId, inspection);
    const ask = async (): Promise<void> => {
      const intervalMs = intervalOf(record);
      const isOurs = await engine.store.lease(`inspect:${record.taskId}`, intervalMs).then(
        (lease) => lease !== undefined,
        // What is known is told nevertheless; a store that is away says nothing about the backend.
        () => false,
      );
      if (!isOurs) inspection.elsewhereUntil = engine.store.now() + intervalMs * elsewhereShare;
      else if (inspection.inFlight !== undefined) await inspection.inFlight;
      else if (canInspect(record)) await enqueue(record, "detail");
    };
    inspection.asking ??= ask().finally(() => delete inspection.asking);
    return inspection.asking;
  };

  return {
    intervalOf,
    refresh,
    inspectNow: async (record, want = "detail") => {
      const inspection = inspections.get(record.taskId);
      // What has been sent may have begun before the change.
      if (inspection?.giveUp === undefined) await inspection?.inFlight;
      if (!canInspect(record)) return;
      const waiting = inspections.get(record.taskId);
      if (waiting?.inFlight === undefined) return enqueue(record, want);
      if (want === "detail") waiting.want = want;
      await waiting.inFlight;
    },
    lastInspectedAt: (taskId) => inspections.get(taskId)?.sentAt,
    lastDetailedAt: (taskId) => inspections.get(taskId)?.detailedAt,
    lastError: (taskId) => inspections.get(taskId)?.error,
    staleSince: (record) => {
      if (isEnded(record.state) || !canInspect(record)) return undefined;
      const inspection = inspections.get(record.taskId);
      const isKnown = inspection?.error === undefined && backoffMs(record.adapterId) === 0;
      return isKnown ? undefined : (inspection?.seenAt ?? record.updatedAt);
    },
    backoffMs,
    isRefused: (adapterId) => (queues.get(adapterId)?.backoff.ms ?? 0) > 0,
    prune: (before) => {
      for (const [taskId, inspection] of inspections)
        if (inspection.inFlight === undefined && inspection.asking === undefined && (inspection.sentAt ?? 0) < before) {
          inspections.delete(taskId);
          anomalies.forget(taskId);
        }
    },
    stop: () => {
      isStopped = true;
      for (const queue of queues.values()) queue.stop();
      for (const inspection of inspections.values()) inspection.giveUp?.();
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
    run: (adapter, context) => {
      const items = batch.flatMap(({ record, inspection }): InspectItem[] =>
        record.ref === undefined
          ? []
          : [
              {
                ref: record.ref,
                want: inspection.want,
                ...(record.execution === undefined ? {} : { previous: record.execution }),
              },
            ],
      );
      return adapter.inspect?.(items, context) ?? Promise.resolve([]);
    },
  });

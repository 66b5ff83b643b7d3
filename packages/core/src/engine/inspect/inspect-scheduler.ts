import { isStoreUnavailable, toBridgeError } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import type { AdapterId, TaskId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { InspectItem, InspectOutcome } from "../../contract/workflow-adapter.ts";
import { callAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { toFaultEvent } from "../context/until-stored.ts";
import { type InspectLine, inspectLine } from "./inspect-line.ts";
import type { Penalty } from "./penalty.ts";
import { pollIntervalMs } from "./poll-interval.ts";
import { suspicions } from "./suspicions.ts";
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
  /** Of its last one that asked for details. */
  lastDetailedAt(taskId: TaskId): number | undefined;
  lastError(taskId: TaskId): string | undefined;
  /**
   * Since when nothing is known of an execution that should be known (milliseconds since the epoch): its last look failed, or its
   * backend is left alone. Undefined: it is as fresh as it should be.
   */
  staleSince(record: TaskRecord): number | undefined;
  penaltyMs(adapterId: AdapterId): number;
  /** Whether the last looks at this backend failed altogether. */
  isRefused(adapterId: AdapterId): boolean;
  /** Forgets what is remembered of tasks that were not looked at since. */
  prune(before: number): void;
  /** Sends nothing more; who waits for a look that was not sent goes on without. */
  stop(): void;
}

interface Look {
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
  readonly look: Look;
  done(): void;
}

/** The share of the newest look in how long looks take, unless it took longer than those before. */
const newestShare = 0.05;

/** Whoever learns that another process looks asks again after this share of the interval: that one may be gone. */
const elsewhereShare = 0.25;

export const inspectScheduler = (engine: EngineContext): InspectScheduler => {
  const looks = new Map<TaskId, Look>();
  const lines = new Map<AdapterId, InspectLine<Ticket>>();
  /** How long slow looks take of late, from when they are due until what they tell is written down (milliseconds). */
  const durations = new Map<AdapterId, number>();
  const suspect = suspicions(engine);
  let isStopped = false;

  const lineOf = (adapterId: AdapterId): InspectLine<Ticket> => {
    const line =
      lines.get(adapterId) ??
      inspectLine<Ticket>(engine, adapterId, (batch, penalty) => runBatch(adapterId, penalty, batch));
    lines.set(adapterId, line);
    return line;
  };

  const penaltyMs = (adapterId: AdapterId): number =>
    Math.max(0, (lines.get(adapterId)?.penalty.until ?? 0) - engine.store.now());

  const floorOf = (record: TaskRecord): number =>
    engine.adapters.get(record.adapterId)?.traits.minInspectIntervalMs ?? 0;

  const intervalOf = (record: TaskRecord): number => {
    const now = engine.store.now();
    const estimatedEndAt = engine.runTimes.expectedEndAt(record);
    const intervalMs = pollIntervalMs(record, floorOf(record), now, penaltyMs(record.adapterId), estimatedEndAt);
    // No more is told than can be held.
    return Math.max(intervalMs, Math.ceil(durations.get(record.adapterId) ?? 0));
  };

  const noteDuration = (adapterId: AdapterId, tookMs: number): void => {
    const before = durations.get(adapterId) ?? 0;
    durations.set(adapterId, Math.max(tookMs, before + (tookMs - before) * newestShare));
  };

  const enqueue = (record: TaskRecord, want: InspectItem["want"]): Promise<void> => {
    const look: Look = looks.get(record.taskId) ?? { want };
    look.want = want;
    looks.set(record.taskId, look);
    const inFlight = new Promise<void>((resolve) => {
      const done = (): void => {
        delete look.inFlight;
        delete look.giveUp;
        resolve();
      };
      look.giveUp = done;
      const now = engine.store.now();
      const delayMs = look.sentAt === undefined ? 0 : Math.max(0, look.sentAt + floorOf(record) - now);
      lineOf(record.adapterId).push({ record, dueAt: now + delayMs, look, done }, delayMs);
    });
    look.inFlight = inFlight;
    return inFlight;
  };

  const runBatch = async (adapterId: AdapterId, penalty: Penalty, batch: readonly Ticket[]): Promise<void> => {
    for (const { look } of batch) {
      look.sentAt = engine.store.now();
      if (look.want === "detail") look.detailedAt = look.sentAt;
      delete look.giveUp;
    }
    try {
      const outcomes = await inspectBatch(engine, adapterId, batch);
      const taskIds = batch.map(({ record }) => record.taskId);
      const isSuspect = suspect.take(adapterId, taskIds, outcomes);
      penalty.take(outcomes);
      await Promise.all(batch.map((ticket, index) => take(ticket, outcomes[index], isSuspect)));
      // One for the batch: its first has waited longest.
      noteDuration(adapterId, engine.store.now() - (batch[0]?.dueAt ?? 0));
    } catch (error) {
      const known = toBridgeError(error);
      penalty.refuse(known.retryAfterMs ?? 0);
      engine.audit({
        kind: "adapter_unavailable",
        adapterId,
        message: known.message,
        fields: { penaltyMs: penalty.ms },
      });
      for (const { look } of batch) look.error = known.message;
    } finally {
      for (const ticket of batch) ticket.done();
    }
  };

  const take = async (
    { record, look }: Ticket,
    outcome: InspectOutcome | undefined,
    isSuspect: boolean,
  ): Promise<void> => {
    delete look.error;
    if (outcome === undefined) {
      look.error = "the adapter gave no outcome";
      return;
    }
    if ("error" in outcome) look.error = outcome.error.message;
    else if ("unavailable" in outcome) look.error = outcome.unavailable;
    else look.seenAt = look.sentAt ?? 0;
    try {
      await takeOutcome(engine, record, outcome, { lookedAt: look.sentAt ?? 0, isSuspect });
    } catch (error) {
      // A store that is away says nothing about the backend.
      if (!isStoreUnavailable(error)) look.error = toBridgeError(error).message;
      engine.audit({ ...toFaultEvent(error), taskId: record.taskId });
    }
  };

  const canLook = (record: TaskRecord): boolean =>
    record.ref !== undefined && engine.adapters.get(record.adapterId)?.inspect !== undefined && !isStopped;

  const refresh = (record: TaskRecord): Promise<void> | undefined => {
    if (!canLook(record) || isEnded(record.state)) return undefined;
    const look = looks.get(record.taskId);
    const isSent = look?.inFlight !== undefined && look.giveUp === undefined;
    // Nobody waits for what the backend would refuse.
    if (!isSent && penaltyMs(record.adapterId) > 0) return undefined;
    if (look?.inFlight !== undefined) {
      if (!isSent) look.want = "detail";
      return look.want === "detail" ? look.inFlight : look.inFlight.then(() => refresh(record));
    }
    const now = engine.store.now();
    const isFresh = look?.detailedAt !== undefined && now - look.detailedAt < intervalOf(record);
    if (isFresh || now < (look?.elsewhereUntil ?? 0)) return undefined;
    return engine.store.shared ? lookUnlessElsewhere(record) : enqueue(record, "detail");
  };

  /** Once per interval in all processes that share the store. */
  const lookUnlessElsewhere = (record: TaskRecord): Promise<void> => {
    const look: Look = looks.get(record.taskId) ?? { want: "detail" };
    looks.set(record.taskId, look);
    const ask = async (): Promise<void> => {
      const intervalMs = intervalOf(record);
      const isOurs = await engine.store.lease(`look:${record.taskId}`, intervalMs).then(
        (lease) => lease !== undefined,
        // What is known is told nevertheless; a store that is away says nothing about the backend.
        () => false,
      );
      if (!isOurs) look.elsewhereUntil = engine.store.now() + intervalMs * elsewhereShare;
      else if (look.inFlight !== undefined) await look.inFlight;
      else if (canLook(record)) await enqueue(record, "detail");
    };
    look.asking ??= ask().finally(() => delete look.asking);
    return look.asking;
  };

  return {
    intervalOf,
    refresh,
    lookNow: async (record, want = "detail") => {
      const look = looks.get(record.taskId);
      // What has been sent may have begun before the change.
      if (look?.giveUp === undefined) await look?.inFlight;
      if (!canLook(record)) return;
      const waiting = looks.get(record.taskId);
      if (waiting?.inFlight === undefined) return enqueue(record, want);
      if (want === "detail") waiting.want = want;
      await waiting.inFlight;
    },
    lastLookedAt: (taskId) => looks.get(taskId)?.sentAt,
    lastDetailedAt: (taskId) => looks.get(taskId)?.detailedAt,
    lastError: (taskId) => looks.get(taskId)?.error,
    staleSince: (record) => {
      if (isEnded(record.state) || !canLook(record)) return undefined;
      const look = looks.get(record.taskId);
      const isKnown = look?.error === undefined && penaltyMs(record.adapterId) === 0;
      return isKnown ? undefined : (look?.seenAt ?? record.updatedAt);
    },
    penaltyMs,
    isRefused: (adapterId) => (lines.get(adapterId)?.penalty.ms ?? 0) > 0,
    prune: (before) => {
      for (const [taskId, look] of looks)
        if (look.inFlight === undefined && look.asking === undefined && (look.sentAt ?? 0) < before) {
          looks.delete(taskId);
          suspect.forget(taskId);
        }
    },
    stop: () => {
      isStopped = true;
      for (const line of lines.values()) line.stop();
      for (const look of looks.values()) look.giveUp?.();
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
      const items = batch.flatMap(({ record, look }): InspectItem[] =>
        record.ref === undefined
          ? []
          : [
              {
                ref: record.ref,
                want: look.want,
                ...(record.execution === undefined ? {} : { previous: record.execution }),
              },
            ],
      );
      return adapter.inspect?.(items, context) ?? Promise.resolve([]);
    },
  });

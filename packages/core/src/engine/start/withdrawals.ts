import { isStoreUnavailable } from "../../contract/bridge-error.ts";
import type { StartKey, TaskId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import { aboutTask } from "../context/audit.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { toFaultEvent } from "../context/until-stored.ts";
import { cancelTask } from "../state/cancel-task.ts";
import { removeUntouched } from "./remove-untouched.ts";

/** Takes back records that a store may hold although their callers were told that it was away. */
export interface Withdrawals {
  /** Looks for the record once the store is back, and sees to it that nothing is started for it. */
  add(record: Pick<TaskRecord, "taskId" | "startKey">): void;
  stop(): void;
}

interface Waiting {
  readonly taskId: TaskId;
  readonly startKey: StartKey;
  /** When it is looked for next, and no more after (epoch milliseconds). */
  checkAt: number;
  readonly until: number;
  /** Looks that found nothing, so far. */
  checks: number;
}

/** A write whose answer was lost may be carried out a little later: so long after the first look (milliseconds) another follows. */
const lateWritesMs: readonly number[] = [2_000, 10_000];
/** How long a store that is away is waited for (milliseconds). */
const patienceMs = 600_000;
/** Between two rounds (milliseconds): a store that is just back has others to serve as well. */
const roundMs = 1_000;
const maxPerRound = 50;
/** More are given up: they begin when their time comes, as if their callers had gone. */
const maxWaiting = 10_000;

export const withdrawals = (engine: EngineContext): Withdrawals => {
  const waiting = new Map<TaskId, Waiting>();
  let cancelTimer: (() => void) | undefined;
  let isStopped = false;

  const plan = (): void => {
    if (isStopped || cancelTimer !== undefined || waiting.size === 0) return;
    cancelTimer = engine.clock.schedule(roundMs, () => engine.background(round()));
  };

  const round = async (): Promise<void> => {
    try {
      const now = engine.clock.now();
      const due = [...waiting.values()].filter(({ checkAt }) => checkAt <= now).slice(0, maxPerRound);
      for (const entry of due) {
        if (isStopped) return;
        // One after the other: the first of them tells whether the store is back.
        if (!(await withdraw(entry, now))) break;
      }
    } finally {
      cancelTimer = undefined;
      plan();
    }
  };

  /** False: the store is still away. */
  const withdraw = async (entry: Waiting, now: number): Promise<boolean> => {
    try {
      if ((await withdrawRecord(engine, entry)) || !willCheckAgain(entry, now)) waiting.delete(entry.taskId);
      return true;
    } catch (error) {
      const isUnavailable = isStoreUnavailable(error);
      if (isUnavailable && now < entry.until) return false;
      waiting.delete(entry.taskId);
      engine.audit({ ...toFaultEvent(error), taskId: entry.taskId });
      return !isUnavailable;
    }
  };

  return {
    add: ({ taskId, startKey }) => {
      const now = engine.clock.now();
      if (waiting.size < maxWaiting)
        waiting.set(taskId, { taskId, startKey, checkAt: now, until: now + patienceMs, checks: 0 });
      else
        engine.audit({
          kind: "internal_error",
          taskId,
          message: "too many calls wait to be taken back from the store",
        });
      plan();
    },
    stop: () => {
      isStopped = true;
      cancelTimer?.();
    },
  };
};

const willCheckAgain = (entry: Waiting, now: number): boolean => {
  const afterMs = lateWritesMs[entry.checks];
  if (afterMs === undefined) return false;
  entry.checkAt = now + afterMs;
  entry.checks += 1;
  return true;
};

/** False: it is not there. May be repeated. */
const withdrawRecord = async (engine: EngineContext, { taskId, startKey }: Waiting): Promise<boolean> => {
  const held = await engine.store.read(taskId);
  if (held?.startKey !== startKey) return false;
  const reason = "the store was away when its caller was answered";
  if (!(await removeUntouched(engine, held)))
    await cancelTask(engine, taskId, { operator: true }, { reason, isFinal: true });
  engine.audit({ kind: "start_refused", ...aboutTask(held), message: reason });
  return true;
};

import { toBridgeError } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import type { TaskId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import { within } from "../../contract/wait.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { type Access, requireVisible } from "../context/ownership.ts";
import type { TaskView, WaitOptions } from "../context/task-engine.ts";
import { toFaultEvent } from "../context/until-stored.ts";
import type { InspectScheduler } from "../inspect/inspect-scheduler.ts";
import { openQuestions } from "../state/questions.ts";
import { resolveTask } from "../state/resolve-task.ts";
import { toView } from "./read-task.ts";

/** Waiters read again after this long (milliseconds): a wake-up that was lost costs seconds, not a hang. */
const rereadMs = 10_000;
/** After a read that failed, the next one follows after this long (milliseconds). */
const retryReadMs = 1_000;

/** See `TaskEngine.waitForTask`. */
export const waitForTask = async (
  engine: EngineContext,
  scheduler: InspectScheduler,
  id: unknown,
  access: Access,
  options: WaitOptions,
): Promise<TaskRecord> => {
  const first = await resolveTask(engine, id, access);
  const revision = options.revision ?? first.revision;
  const isOver = (record: TaskRecord): boolean =>
    isEnded(record.state) ||
    (options.until === "attention" && openQuestions(record.questions).length > 0) ||
    (options.until === "changed" && record.revision !== revision);
  return new Promise<TaskRecord>((resolve, reject) => {
    let latest = first;
    const stops: (() => void)[] = [];
    const finish = (settle: () => void): void => {
      for (const stop of stops.splice(0)) stop();
      settle();
    };
    const take = (record: TaskRecord | undefined): void => {
      try {
        latest = requireVisible(record, access);
        if (isOver(latest)) finish(() => resolve(latest));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const stop = (): void => finish(() => resolve(latest));
    stops.push(engine.clock.schedule(options.timeoutMs, stop));
    for (const signal of [options.signal, engine.closing]) {
      signal?.addEventListener("abort", stop, { once: true });
      stops.push(() => signal?.removeEventListener("abort", stop));
    }
    stops.push(attendTask(engine, scheduler, first.taskId, take));
    if (options.signal?.aborted === true || engine.closing.aborted) stop();
  });
};

/** Counted from when the last look was sent, or a look that takes long would come on top of every interval. */
const msUntilNextInspection = (engine: EngineContext, scheduler: InspectScheduler, record: TaskRecord): number => {
  const intervalMs = scheduler.intervalOf(record);
  const inspectedAt = scheduler.lastDetailedAt(record.taskId);
  if (inspectedAt === undefined || scheduler.backoffMs(record.adapterId) > 0) return intervalMs;
  return Math.max(1, inspectedAt + intervalMs - engine.store.now());
};

/**
 * Hears of every new revision of a task until stopped, and looks at the backend meanwhile as often as its interval says.
 * Begins with a read. Undefined: the record is gone.
 */
const attendTask = (
  engine: EngineContext,
  scheduler: InspectScheduler,
  taskId: TaskId,
  observe: (record: TaskRecord | undefined) => void,
): (() => void) => {
  let isStopped = engine.closing.aborted;
  let cancelTimer: () => void = () => {};
  let newest: TaskRecord | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  const take = (record: TaskRecord | undefined): void => {
    if (isStopped) return;
    if (record !== undefined && record.revision <= (newest?.revision ?? 0)) return;
    newest = record;
    observe(record);
  };
  const reread = async (): Promise<TaskRecord | undefined> => {
    const askedAt = engine.store.now();
    const record = await engine.store.read(taskId);
    readAt = askedAt;
    take(record);
    return record;
  };
  /** Where the store tells of changes, what was heard serves for a while: reading costs as much as looking. */
  const current = (): Promise<TaskRecord | undefined> | TaskRecord => {
    const serves = engine.store.watch !== undefined && engine.store.now() - readAt < rereadMs;
    return serves && newest !== undefined ? newest : reread();
  };
  const turn = async (): Promise<void> => {
    let pauseMs = rereadMs;
    try {
      const record = await current();
      if (isStopped || record === undefined || isEnded(record.state)) return;
      await within(scheduler.refresh(record) ?? Promise.resolve(), rereadMs, { clock: engine.clock });
      pauseMs = Math.min(msUntilNextInspection(engine, scheduler, record), rereadMs);
    } catch (error) {
      // A store that fails once must not leave those who wait without any further read.
      engine.audit({ ...toFaultEvent(error), taskId });
      pauseMs = retryReadMs;
    }
    if (!isStopped) cancelTimer = engine.clock.schedule(pauseMs, () => engine.background(turn()));
  };
  const stop = (): void => {
    isStopped = true;
    cancelTimer();
    unsubscribe();
    engine.closing.removeEventListener("abort", stop);
  };
  engine.closing.addEventListener("abort", stop, { once: true });
  // Subscribe, then read: what happens in between is heard.
  const unsubscribe = engine.hub.subscribe(taskId, (record) => {
    if (record === undefined) engine.background(reread());
    else take(record);
  });
  engine.background(turn());
  return stop;
};

/** See `TaskEngine.followTask`. */
export const followTask = async (
  engine: EngineContext,
  scheduler: InspectScheduler,
  id: unknown,
  access: Access,
  listener: (view: TaskView) => void,
  gone: () => void,
): Promise<{ stop(): void }> => {
  const { taskId } = await resolveTask(engine, id, access);
  let isStopped = false;
  let detach: () => void = () => {};
  let line = Promise.resolve();
  const stop = (): void => {
    isStopped = true;
    detach();
  };
  let reported = 0;
  const report = async (record: TaskRecord | undefined): Promise<void> => {
    if (isStopped || (record !== undefined && record.revision <= reported)) return;
    let view: TaskView;
    try {
      view = await toView(engine, scheduler, requireVisible(record, access), access);
    } catch (error) {
      const known = toBridgeError(error);
      if (known.code === "not_found") {
        if (!isStopped) gone();
        stop();
      } else {
        // A store that fails for a moment: what it has is told once it can be read.
        engine.audit({ ...toFaultEvent(error), taskId });
        engine.clock.schedule(retryReadMs, () => queue(record));
      }
      return;
    }
    if (isStopped) return;
    reported = view.record.revision;
    if (isEnded(view.record.state)) stop();
    listener(view);
  };
  const queue = (record: TaskRecord | undefined): void => {
    line = line.then(() => report(record));
    engine.background(line);
  };
  detach = attendTask(engine, scheduler, taskId, queue);
  return { stop };
};

/** After a gap, waiters read again so many at a time, with a pause between (milliseconds): a store that is just back is spared a rush. */
const rereadAtOnce = 100;
const rereadPauseMs = 20;

/** Tells waiters of this process what others have written. Returns how to stop. */
export const watchStoreChanges = (engine: EngineContext): (() => void) => {
  let stopRereading: () => void = () => {};
  const reread = (taskIds: readonly TaskId[]): void => {
    for (const taskId of taskIds.slice(0, rereadAtOnce)) engine.hub.publish(taskId, undefined);
    const rest = taskIds.slice(rereadAtOnce);
    stopRereading = rest.length === 0 ? () => {} : engine.clock.schedule(rereadPauseMs, () => reread(rest));
  };
  const stopWatching = engine.store.watch?.((taskId) => {
    if (taskId !== undefined) {
      engine.hub.publish(taskId, undefined);
      return;
    }
    stopRereading();
    reread(engine.hub.subscribed());
  });
  return () => {
    stopWatching?.();
    stopRereading();
  };
};

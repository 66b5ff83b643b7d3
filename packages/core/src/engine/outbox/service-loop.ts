import type { TaskId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { EngineContext } from "../context/engine-context.ts";
import type { Service } from "../context/leadership.ts";
import { toFaultEvent } from "../context/until-stored.ts";
import { isForeign } from "../state/effects.ts";
import { wakeAtOf } from "../state/transitions.ts";
import { isKeptByBackend } from "./forget-execution.ts";
import { isOver } from "./retention.ts";
import { serveDue } from "./serve-due.ts";

/** Records served side by side, each with calls to a backend. */
const maxAtOnce = 16;
/** Records removed side by side, which a store does many at a time: next to nothing for those who read meanwhile. */
const maxRemoved = 32;
/** Records that a look asks for, and the most while it finds more than it can bring (a backlog). */
const [minPage, maxPage] = [16, 128];
/** A page that takes longer (milliseconds) is followed by a small one: what others could serve is not handed out to wait here. */
const maxPageMs = 1_000;
/** Another process's write may set an earlier time than the one waited for; it is noticed at the latest after this (milliseconds). */
const maxPauseMs = 5_000;
/** A record that could not be served, or that another process serves, is left alone for this long (milliseconds). */
const coolDownMs = 1_000;
/** What only a process of another version can do is looked at again after this long (milliseconds). */
const foreignMs = 60_000;
/** Where several processes serve, what one has got is not handed to another for this long (milliseconds). */
const handedOutMs = 5_000;
/** Who writes a record serves it as well; others look after it this much later (milliseconds), and for many at once. */
const othersWriteMs = 250;

/** Serves every record when it is due. Sleeps until the earliest; a write in this process that sets an earlier one wakes it. */
export const serviceLoop = (engine: EngineContext): Service => {
  let cancelTimer: () => void = () => {};
  let plannedAt = Number.POSITIVE_INFINITY;
  let turn: Promise<void> | undefined;
  /** The earliest time set by a write while a turn was under way: it may have come after the turn's own look. */
  let setMeanwhile = Number.POSITIVE_INFINITY;
  let isStopped = false;
  const runTurn = dueServer(engine);

  const plan = (at: number): void => {
    if (turn !== undefined) setMeanwhile = Math.min(setMeanwhile, at);
    if (isStopped || turn !== undefined || at >= plannedAt) return;
    cancelTimer();
    plannedAt = at;
    cancelTimer = engine.clock.schedule(Math.max(0, at - engine.store.now()), run);
  };

  const run = (): void => {
    plannedAt = Number.POSITIVE_INFINITY;
    if (isStopped || turn !== undefined) return;
    turn = runTurn()
      .catch((error: unknown) => {
        engine.audit(toFaultEvent(error, "the service loop"));
        return engine.store.now() + coolDownMs;
      })
      .then((next) => {
        turn = undefined;
        const at = Math.min(next, setMeanwhile);
        setMeanwhile = Number.POSITIVE_INFINITY;
        plan(at);
      });
  };

  let unsubscribe: () => void = () => {};
  return {
    start: () => {
      unsubscribe = engine.hub.subscribeAll((_taskId, record) => {
        if (record === undefined) plan(engine.store.now() + (engine.store.shared ? othersWriteMs : 0));
        else if (record.wakeAt !== null) plan(record.wakeAt);
      });
      run();
    },
    stop: async () => {
      isStopped = true;
      unsubscribe();
      cancelTimer();
      await turn;
    },
  };
};

/** Serves a page of what is due each time it is called, and resolves with the time of the next call (epoch milliseconds). */
const dueServer = (engine: EngineContext): (() => Promise<number>) => {
  let pageSize = minPage;
  const coolUntil = new Map<TaskId, number>();

  const serve = async (record: TaskRecord): Promise<void> => {
    try {
      await serveDue(engine, record);
      const now = engine.store.now();
      if (record.effects.some((effect) => isForeign(effect) && effect.notBefore <= now)) {
        const ownWakeAt = wakeAtOf({ ...record, effects: record.effects.filter((effect) => !isForeign(effect)) });
        coolUntil.set(record.taskId, Math.min(now + foreignMs, ownWakeAt ?? Number.POSITIVE_INFINITY));
      }
    } catch (error) {
      coolUntil.set(record.taskId, engine.store.now() + coolDownMs);
      engine.audit({ ...toFaultEvent(error), taskId: record.taskId });
    }
  };

  const serveSome = async (records: readonly TaskRecord[], atOnce: number): Promise<void> => {
    const rest = records.values();
    const work = async (): Promise<void> => {
      for (const record of rest) await serve(record);
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, records.length) }, work));
  };

  const serveAll = async (ready: readonly TaskRecord[], now: number): Promise<void> => {
    const goes = (record: TaskRecord): boolean => isOver(record, now) && !isKeptByBackend(engine, record);
    await Promise.all([
      serveSome(ready.filter(goes), maxRemoved),
      serveSome(
        ready.filter((record) => !goes(record)),
        maxAtOnce,
      ),
    ]);
  };

  return async () => {
    const now = engine.store.now();
    for (const [taskId, until] of coolUntil) if (until <= now) coolUntil.delete(taskId);
    const { shared } = engine.store;
    // What is claimed is passed over the next time, so that what cools down here does not come again and again.
    const asked = pageSize;
    const due = await (shared ? engine.store.due(asked, handedOutMs) : engine.store.due(asked + coolUntil.size));
    const ready = due.filter((record) => !coolUntil.has(record.taskId)).slice(0, asked);
    await serveAll(ready, now);
    const isBacklog = ready.length === asked && engine.store.now() - now < maxPageMs;
    pageSize = isBacklog ? Math.min(2 * asked, maxPage) : minPage;
    if (ready.length > 0 || (shared && due.length === asked)) return engine.store.now();
    if (due.length > 0) return now + coolDownMs;
    const next = (await engine.store.nextWakeAt()) ?? Number.POSITIVE_INFINITY;
    // What was due at the time of the look is with another process.
    return Math.min(next <= now ? now + coolDownMs : next, engine.store.now() + maxPauseMs);
  };
};

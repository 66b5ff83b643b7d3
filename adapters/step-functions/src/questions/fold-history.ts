import type { HistoryEvent } from "../aws/client.ts";
import { foldMaps, type MapCount } from "./fold-maps.ts";

/** A task that waits for somebody to send its token back. */
export interface OpenCallback {
  /** Of the event that scheduled it, which names this very wait: a retry is another one. */
  readonly id: number;
  readonly at: number;
  readonly state: string | undefined;
  readonly task: NonNullable<HistoryEvent["task"]>;
  /** Whether its token has been handed on, so that it waits for sure. */
  readonly isSubmitted: boolean;
}

/** What an execution's events come to. */
export interface HistoryFold {
  /** Of the newest event taken. */
  readonly lastId: number;
  readonly statesDone: number;
  /** The state that was entered last. */
  readonly state: string | undefined;
  readonly callbacks: readonly OpenCallback[];
  /** The Map that was begun last, of those that go on. */
  readonly map: MapCount | undefined;
  /** The distributed Map that was begun last, of those that go on. */
  readonly mapRunArn: string | undefined;
  /** Takes further events, in any order. Those that it had already are passed over. */
  take(events: readonly HistoryEvent[]): void;
}

/** What follows a scheduled task while it goes on. Anything else that follows ends it. */
const goesOn: ReadonlySet<string> = new Set(["TaskStarted", "TaskSubmitted"]);
/** What ends everything that was open; a redrive schedules anew what is still to be done. */
const endsAll = /^Execution(Succeeded|Failed|Aborted|TimedOut|Redriven)$/;
/** Names of states are remembered for so many events: what follows one comes soon, and tells its name only. */
const mostNames = 2_000;

export const isCallback = ({ type, task }: HistoryEvent): boolean =>
  type === "TaskScheduled" && task !== undefined && task.resource.endsWith(".waitForTaskToken");

/**
 * Follows the chains of `previousEventId`, which branch at Parallel and Map: the event before this one in the list may be of
 * another branch.
 */
export const foldHistory = (): HistoryFold => {
  let lastId = 0;
  let statesDone = 0;
  let state: string | undefined;
  const open = new Map<number, OpenCallback>();
  /** Events of open waits, by their IDs, and which wait they are of. */
  const waits = new Map<number, number>();
  const names = new Map<number, string>();
  const maps = foldMaps();

  const follow = (event: HistoryEvent): void => {
    const wait = waits.get(event.previousId);
    const callback = open.get(wait ?? 0);
    if (wait === undefined || callback === undefined) return;
    if (goesOn.has(event.type)) {
      waits.set(event.id, wait);
      open.set(wait, { ...callback, isSubmitted: callback.isSubmitted || event.type === "TaskSubmitted" });
      return;
    }
    open.delete(wait);
    for (const [id, of] of waits) if (of === wait) waits.delete(id);
  };

  const remember = (event: HistoryEvent): string | undefined => {
    const name = event.type.endsWith("StateEntered") ? event.state : names.get(event.previousId);
    if (name !== undefined) names.set(event.id, name);
    names.delete(event.id - mostNames);
    return name;
  };

  const takeOne = (event: HistoryEvent): void => {
    lastId = event.id;
    if (endsAll.test(event.type)) for (const kept of [open, waits, maps]) kept.clear();
    follow(event);
    const name = remember(event);
    if (event.type.endsWith("StateEntered")) state = event.state;
    if (event.type.endsWith("StateExited")) statesDone++;
    maps.take(event, name ?? "");
    if (!isCallback(event) || event.task === undefined) return;
    open.set(event.id, { id: event.id, at: event.at, state: name, task: event.task, isSubmitted: false });
    waits.set(event.id, event.id);
  };

  return {
    get lastId() {
      return lastId;
    },
    get statesDone() {
      return statesDone;
    },
    get state() {
      return state;
    },
    get callbacks() {
      return [...open.values()];
    },
    get map() {
      return maps.last;
    },
    get mapRunArn() {
      return maps.lastRunArn;
    },
    take: (events) => {
      for (const event of [...events].sort((one, other) => one.id - other.id)) if (event.id > lastId) takeOne(event);
    },
  };
};

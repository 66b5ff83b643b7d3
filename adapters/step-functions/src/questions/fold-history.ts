import type { HistoryEvent } from "../aws/client.ts";
import { foldCallbacks, type OpenCallback } from "./fold-callbacks.ts";
import { foldMaps, type MapCount } from "./fold-maps.ts";

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
  apply(events: readonly HistoryEvent[]): void;
}

/** What ends everything that was open; a redrive schedules anew what is still to be done. */
const endsAll = /^Execution(Succeeded|Failed|Aborted|TimedOut|Redriven)$/;
/** Names of states are remembered for so many events: what follows one comes soon, and tells its name only. */
const maxNames = 2_000;

/**
 * Follows the chains of `previousEventId`, which branch at Parallel and Map: the event before this one in the list may be of
 * another branch.
 */
export const foldHistory = (): HistoryFold => {
  let lastId = 0;
  let statesDone = 0;
  let state: string | undefined;
  const names = new Map<number, string>();
  const callbacks = foldCallbacks();
  const maps = foldMaps();

  const applyEvent = (event: HistoryEvent): void => {
    const { id, previousId, type } = event;
    lastId = id;
    if (endsAll.test(type)) for (const kept of [callbacks, maps]) kept.clear();
    const isEntry = type.endsWith("StateEntered");
    const name = isEntry ? event.state : names.get(previousId);
    if (name !== undefined) names.set(id, name);
    names.delete(id - maxNames);
    if (isEntry) state = name;
    if (type.endsWith("StateExited")) statesDone++;
    callbacks.apply(event, name);
    maps.apply(event, name ?? "");
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
      return callbacks.open;
    },
    get map() {
      return maps.last;
    },
    get mapRunArn() {
      return maps.lastRunArn;
    },
    apply: (events) => {
      for (const event of events.toSorted((one, other) => one.id - other.id)) if (event.id > lastId) applyEvent(event);
    },
  };
};

import type { HistoryEvent } from "../aws/client.ts";

export interface MapCount {
  readonly state: string;
  readonly done: number;
  readonly total: number;
}

/** How far the Maps of an execution have come that go on. */
export interface MapFold {
  /** The inline Map that was begun last. */
  readonly last: MapCount | undefined;
  /** The Map Run of the distributed Map that was begun last. */
  readonly lastRunArn: string | undefined;
  /** The next event, and the state it is of. */
  apply(event: HistoryEvent, state: string): void;
  clear(): void;
}

export const foldMaps = (): MapFold => {
  const maps = new Map<string, MapCount>();
  const runs = new Map<string, string>();
  return {
    get last() {
      return [...maps.values()].at(-1);
    },
    get lastRunArn() {
      return [...runs.values()].at(-1);
    },
    apply: (event, state) => {
      const map = maps.get(event.state ?? state);
      if (event.type === "MapStateStarted" && event.length !== undefined) {
        maps.delete(state);
        maps.set(state, { state, done: 0, total: event.length });
      } else if (event.type === "MapRunStarted" && event.mapRunArn !== undefined) runs.set(state, event.mapRunArn);
      else if (/^MapIteration(Succeeded|Failed|Aborted)$/.test(event.type) && map !== undefined)
        maps.set(map.state, { ...map, done: Math.min(map.done + 1, map.total) });
      else if (/^MapRun(Succeeded|Failed|Aborted)$/.test(event.type)) runs.delete(state);
      if (/^MapState(Exited|Succeeded|Failed|Aborted)$/.test(event.type)) maps.delete(event.state ?? state);
    },
    clear: () => {
      maps.clear();
      runs.clear();
    },
  };
};

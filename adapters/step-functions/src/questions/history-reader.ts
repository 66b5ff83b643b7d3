import type { SfnClient } from "../aws/client.ts";
import { foldHistory, type HistoryFold } from "./fold-history.ts";
import { pageSize, readBack } from "./read-back.ts";

/** Of so many executions with long histories what was read is kept, so that only what is new is read again. */
const maxKept = 200;

export interface HistoryReader {
  /** All of an execution's history. `take`: whether another page may be read. Undefined: not all pages might be. */
  read(arn: string, take: () => Promise<boolean>, signal: AbortSignal): Promise<HistoryFold | undefined>;
}

export const historyReader = (client: SfnClient): HistoryReader => {
  /** Histories of more than a page, the one read last at the end. */
  const kept = new Map<string, HistoryFold>();
  return {
    read: async (arn, take, signal) => {
      const known = kept.get(arn);
      const events = await readBack(client, arn, known?.lastId ?? 0, take, signal);
      if (events === undefined) return undefined;
      const fold = known ?? foldHistory();
      fold.apply(events);
      kept.delete(arn);
      if (fold.lastId > pageSize) kept.set(arn, fold);
      for (const oldest of kept.keys()) {
        if (kept.size <= maxKept) break;
        kept.delete(oldest);
      }
      return fold;
    },
  };
};

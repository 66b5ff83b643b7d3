import type { CallContext, ExecutionProgress } from "@taskbridge/core/adapter";
import type { SfnClient } from "../aws/client.ts";
import type { Quotas } from "../aws/quotas.ts";
import type { HistoryFold } from "./fold-history.ts";
import { optionalRead } from "./optional-read.ts";

/** How long the items of a Map are waited for, while questions that are known wait with them (milliseconds). */
const countMs = 5_000;

export type ProgressReader = (
  machineArn: string,
  fold: HistoryFold,
  rates: Quotas,
  context: CallContext,
) => Promise<ExecutionProgress>;

/** How far an execution has come: items of the Map that goes on, else states that are done. */
export const progressReader = (client: SfnClient): ProgressReader => {
  const counts = optionalRead("the items of a Map are not counted");

  /** Its counts are left out where they cannot be had: questions and states are known all the same. */
  const mapRunOf = async (
    machineArn: string,
    { mapRunArn }: HistoryFold,
    rates: Quotas,
    { signal, log }: CallContext,
  ): Promise<ExecutionProgress | undefined> => {
    if (mapRunArn === undefined || counts.isQuiet(machineArn) || !rates.history.tryTake(rates.historyReserve))
      return undefined;
    try {
      return await client.mapRun(mapRunArn, AbortSignal.any([signal, AbortSignal.timeout(countMs)]));
    } catch (error) {
      if (signal.aborted) throw error;
      counts.failed(machineArn, error, log);
      return undefined;
    }
  };

  return async (machineArn, fold, rates, context) => {
    const message = fold.state === undefined ? {} : { message: fold.state };
    const counted = await mapRunOf(machineArn, fold, rates, context);
    // The history does not count these items: what it tells of the Map would be that none is done.
    if (fold.mapRunArn !== undefined) return { ...counted, ...message };
    if (fold.map !== undefined && fold.map.total > 0) {
      const { state, done, total } = fold.map;
      return { done, total, message: fold.state === state ? state : `${state}: ${fold.state}` };
    }
    return { done: fold.statesDone, ...message };
  };
};

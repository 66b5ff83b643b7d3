import { type CallContext, type ExecutionSnapshot, toBridgeError } from "@taskbridge/core/adapter";
import type { SfnClient } from "../aws/client.ts";
import type { Quotas } from "../aws/quotas.ts";
import type { ExecutionLocation } from "../mapping/execution-arn.ts";
import { historyReader } from "./history-reader.ts";
import { logOnce } from "./log-once.ts";
import { optionalRead } from "./optional-read.ts";
import { progressReader } from "./progress-reader.ts";
import { type Details, readDetails } from "./read-details.ts";
import { readEnd } from "./read-end.ts";
import { readingTurns } from "./reading-turns.ts";

export interface DetailReader {
  /**
   * Of as many as the rate of reading histories allows now, and as are read when the signal fires, those first that were read longest
   * ago. Whatever goes wrong is logged: what is known of their status is told all the same.
   */
  read(locations: readonly ExecutionLocation[], context: CallContext): Promise<ReadonlyMap<string, Details>>;
  /** An ended execution by its last event; undefined when that is not its end, or may not be read (now). */
  readEnd(location: EndedLocation, context: CallContext): Promise<ExecutionSnapshot | undefined>;
  /** News of this one has come: it goes first. */
  hurry(arn: string): void;
  /** It has ended. */
  forget(arn: string): void;
}

interface EndedLocation extends ExecutionLocation {
  readonly previous: ExecutionSnapshot | undefined;
}

/** So few wait for their turn; of more, each look takes what is there. */
const few = 3;
/** Histories read side by side. */
const atOnce = 8;

export const detailReader = (client: SfnClient, quotas: (arn: string) => Quotas): DetailReader => {
  const turns = readingTurns(quotas);
  const tools = { histories: historyReader(client), turns, readProgress: progressReader(client), warn: logOnce() };
  const histories = optionalRead("questions and progress are not seen");

  return {
    read: async (locations, context) => {
      const found = new Map<string, Details>();
      const queue = turns.next(locations, few);
      let isSpent = false;
      const work = async (): Promise<void> => {
        for (let location = queue.shift(); location !== undefined; location = queue.shift()) {
          if (isSpent || context.signal.aborted) return;
          const { arn, machineArn } = location;
          if (histories.isQuiet(machineArn)) continue;
          try {
            const waits = locations.length <= few || turns.isHurried(arn);
            const details = await readDetails(tools, location, quotas(arn), waits, context);
            if (details === undefined) isSpent = true;
            else found.set(arn, details);
          } catch (error) {
            histories.failed(machineArn, error, context.log);
            isSpent ||= toBridgeError(error).code === "throttled";
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      return found;
    },
    readEnd: async ({ arn, machineArn, previous }, { signal, log }) => {
      if (histories.isQuiet(machineArn) || !quotas(arn).history.tryTake()) return undefined;
      try {
        return await readEnd(client, arn, previous?.startedAt, signal);
      } catch (error) {
        // Histories may be left out of what an operator allows: it is described then.
        if (toBridgeError(error).code !== "denied") throw error;
        histories.failed(machineArn, error, log);
        return undefined;
      }
    },
    hurry: turns.hurry,
    forget: turns.forget,
  };
};

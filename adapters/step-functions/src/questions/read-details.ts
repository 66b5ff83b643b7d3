import {
  type CallContext,
  type ExecutionQuestion,
  type ExecutionSnapshot,
  toBridgeError,
} from "@taskbridge/core/adapter";
import type { SfnClient } from "../aws/client.ts";
import { denials } from "../aws/denials.ts";
import type { Quotas } from "../aws/token-bucket.ts";
import type { ExecutionPlace } from "../mapping/execution-arn.ts";
import { complaints } from "./complaints.ts";
import type { HistoryFold } from "./fold-history.ts";
import { readEnd } from "./read-end.ts";
import { historyReader } from "./read-history.ts";
import { progressReader } from "./read-progress.ts";
import { readingTurns } from "./reading-turns.ts";
import { toQuestion } from "./to-question.ts";

/** What a running execution's history adds to its snapshot. */
export type Details = Pick<ExecutionSnapshot, "questions" | "progress"> & { readonly status: "running" | "waiting" };

export interface DetailReader {
  /**
   * Of as many as the rate of reading histories allows now, and as are read when the signal fires, those first that were read longest
   * ago. Whatever goes wrong is logged: what is known of their status is told all the same.
   */
  read(places: readonly ExecutionPlace[], context: CallContext): Promise<ReadonlyMap<string, Details>>;
  /** An ended execution by its last event; undefined when that is not its end, or may not be read (now). */
  readEnd(place: ExecutionPlace & Started, context: CallContext): Promise<ExecutionSnapshot | undefined>;
  /** News of this one has come: it goes first. */
  hurry(arn: string): void;
  /** It has ended. */
  forget(arn: string): void;
}

interface Started {
  readonly previous: ExecutionSnapshot | undefined;
}

/** So few wait for their turn; of more, each look takes what is there. */
const few = 3;
/** How long one waits for its turn (milliseconds). */
const waitMs = 2_000;
/** Histories read side by side. */
const atOnce = 8;

/**
 * A task that has not handed its token on yet may still fail to. What does not say so is taken to wait after this long (milliseconds, by
 * clocks that may differ).
 */
const submitMs = 10_000;

const notSeen = "questions and progress are not seen";
const noToken =
  "waits for a task token that is not found in what it sends: left out, deeper than 12 levels, or one of several that may be it";

export const detailReader = (client: SfnClient, quotas: (arn: string) => Quotas): DetailReader => {
  const histories = historyReader(client);
  const turns = readingTurns(quotas);
  const denied = denials();
  const told = complaints();
  const readProgress = progressReader(client, told);

  const questionsOf = (
    machineArn: string,
    { callbacks }: HistoryFold,
    { now, log }: CallContext,
  ): readonly ExecutionQuestion[] =>
    callbacks.flatMap((callback) => {
      if (!callback.isSubmitted && now() - callback.at < submitMs) return [];
      const question = toQuestion(callback);
      if (question === undefined) told.add(`${machineArn}: the state ${callback.state} ${noToken}`, log);
      return question ?? [];
    });

  const readOne = async (place: ExecutionPlace, waits: boolean, context: CallContext): Promise<Details | undefined> => {
    const { arn, machineArn } = place;
    const rates = quotas(arn);
    let pages = 0;
    const take = (): Promise<boolean> =>
      waits || pages++ > 0
        ? rates.history.take(waitMs, context.signal)
        : Promise.resolve(rates.history.tryTake(rates.historyReserve));
    const fold = await histories.read(arn, take, context.signal);
    if (fold === undefined) return undefined;
    turns.wasRead(arn);
    const questions = questionsOf(machineArn, fold, context);
    const progress = await readProgress(machineArn, fold, rates, context);
    return { status: questions.length > 0 ? "waiting" : "running", questions, progress };
  };

  const isOver = (error: unknown, machineArn: string, log: CallContext["log"]): boolean => {
    const { code } = toBridgeError(error);
    if (code === "denied") denied.add(machineArn);
    told.addError(notSeen, error, log);
    return code === "throttled";
  };

  return {
    read: async (places, context) => {
      const found = new Map<string, Details>();
      const queue = turns.next(places, few);
      let isSpent = false;
      const work = async (): Promise<void> => {
        for (let place = queue.shift(); place !== undefined; place = queue.shift()) {
          if (isSpent || context.signal.aborted) return;
          const { arn, machineArn } = place;
          if (denied.isQuiet(machineArn)) continue;
          try {
            const details = await readOne(place, places.length <= few || turns.isHurried(arn), context);
            if (details === undefined) isSpent = true;
            else found.set(arn, details);
          } catch (error) {
            isSpent ||= isOver(error, machineArn, context.log);
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      return found;
    },
    readEnd: async ({ arn, machineArn, previous }, { signal, log }) => {
      if (denied.isQuiet(machineArn) || !quotas(arn).history.tryTake()) return undefined;
      try {
        return await readEnd(client, arn, previous?.startedAt, signal);
      } catch (error) {
        // Histories may be left out of what an operator allows: it is described then.
        if (toBridgeError(error).code !== "denied") throw error;
        denied.add(machineArn);
        told.addError(notSeen, error, log);
        return undefined;
      }
    },
    hurry: turns.hurry,
    forget: turns.forget,
  };
};

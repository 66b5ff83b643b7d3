import {
  type CallContext,
  type ExecutionProgress,
  type ExecutionSnapshot,
  toBridgeError,
} from "@taskbridge/core/adapter";
import type { HistoryEvent, SfnClient } from "../aws/client.ts";
import type { Quotas } from "../aws/token-bucket.ts";
import type { ExecutionPlace } from "../mapping/execution-arn.ts";
import { toSnapshot } from "../mapping/to-snapshot.ts";
import type { HistoryFold } from "./fold-history.ts";
import { historyReader } from "./read-history.ts";
import { toQuestion } from "./to-question.ts";

/** What a running execution's history adds to its snapshot. */
export type Details = Pick<ExecutionSnapshot, "questions" | "progress"> & { readonly status: "running" | "waiting" };

export interface DetailReader {
  /**
   * Of as many as the rate of reading histories allows now, and as are read when the signal fires, those first that were read longest
   * ago. Whatever goes wrong is logged: what is known of their status is told all the same.
   */
  read(places: readonly ExecutionPlace[], context: CallContext): Promise<ReadonlyMap<string, Details>>;
  /** An ended execution by its last event; undefined when that is not its end. */
  readEnd(place: ExecutionPlace & Started, signal: AbortSignal): Promise<ExecutionSnapshot | undefined>;
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
/** How long the items of a Map are waited for, while questions that are known wait with them (milliseconds). */
const countMs = 5_000;
/** Histories read side by side. */
const atOnce = 8;
/**
 * While more want to be read than may be, one is not read again before this part of the time has passed that all together take: a look
 * at some would use up what others, which are not in that look, have waited for longer.
 */
const leastTurn = 0.75;
/** Executions that are remembered for when they were read. */
const mostRemembered = 20_000;

/**
 * A task that has not handed its token on yet may still fail to. What does not say so is taken to wait after this long (milliseconds, by
 * clocks that may differ).
 */
const submitMs = 10_000;

const ends: Readonly<Record<string, string>> = {
  ExecutionSucceeded: "SUCCEEDED",
  ExecutionFailed: "FAILED",
  ExecutionAborted: "ABORTED",
  ExecutionTimedOut: "TIMED_OUT",
};

export const detailReader = (client: SfnClient, quotas: (arn: string) => Quotas): DetailReader => {
  const histories = historyReader(client);
  const readAt = new Map<string, number>();
  const hurried = new Set<string>();
  const complaints = new Set<string>();

  const complain = (what: string, error: unknown, log: CallContext["log"]): void => {
    const { code, message } = toBridgeError(error);
    if (code === "not_found" || complaints.has(message)) return;
    complaints.add(message);
    log("warn", `${what}: ${message}`);
  };

  /** Its counts are left out where they cannot be had: questions and states are known all the same. */
  const mapRunOf = async (
    { mapRunArn }: HistoryFold,
    rates: Quotas,
    { signal, log }: CallContext,
  ): Promise<ExecutionProgress | undefined> => {
    if (mapRunArn === undefined || !rates.history.tryTake(rates.historyReserve)) return undefined;
    try {
      const { done, total } = await client.mapRun(mapRunArn, AbortSignal.any([signal, AbortSignal.timeout(countMs)]));
      return { done, total };
    } catch (error) {
      if (signal.aborted) throw error;
      complain("the items of a Map are not counted", error, log);
      return undefined;
    }
  };

  const progressOf = async (fold: HistoryFold, rates: Quotas, context: CallContext): Promise<ExecutionProgress> => {
    const message = fold.state === undefined ? {} : { message: fold.state };
    const counted = await mapRunOf(fold, rates, context);
    // The history does not count these items: what it tells of the Map would be that none is done.
    if (fold.mapRunArn !== undefined) return { ...counted, ...message };
    if (fold.map !== undefined && fold.map.total > 0) {
      const { state, done, total } = fold.map;
      return { done, total, message: fold.state === state ? state : `${state}: ${fold.state}` };
    }
    return { done: fold.statesDone, ...message };
  };

  const readOne = async (arn: string, waits: boolean, context: CallContext): Promise<Details | undefined> => {
    const { signal, now } = context;
    const rates = quotas(arn);
    let pages = 0;
    const take = (): Promise<boolean> =>
      waits || pages++ > 0
        ? rates.history.take(waitMs, signal)
        : Promise.resolve(rates.history.tryTake(rates.historyReserve));
    const fold = await histories.read(arn, take, signal);
    if (fold === undefined) return undefined;
    readAt.delete(arn);
    readAt.set(arn, performance.now());
    hurried.delete(arn);
    const waiting = fold.callbacks.filter(({ isSubmitted, at }) => isSubmitted || now() - at >= submitMs);
    const questions = waiting.flatMap((callback) => toQuestion(callback) ?? []);
    const progress = await progressOf(fold, rates, context);
    return { status: questions.length > 0 ? "waiting" : "running", questions, progress };
  };

  return {
    read: async (places, context) => {
      const found = new Map<string, Details>();
      const rankOf = (arn: string): number => (hurried.has(arn) ? -1 : (readAt.get(arn) ?? 0));
      const isDue = (arn: string): boolean => {
        const { history, historyPerSecond, historyReserve } = quotas(arn);
        const turnMs = (readAt.size / historyPerSecond) * 1_000 * leastTurn;
        const isNew = hurried.has(arn) || !readAt.has(arn);
        return isNew || history.left() > 1.2 * historyReserve || performance.now() - rankOf(arn) >= turnMs;
      };
      const due = places.length <= few ? places : places.filter(({ arn }) => isDue(arn));
      const queue = due.map(({ arn }) => arn).sort((one, other) => rankOf(one) - rankOf(other));
      let isSpent = false;
      const work = async (): Promise<void> => {
        for (let arn = queue.shift(); arn !== undefined && !isSpent && !context.signal.aborted; arn = queue.shift()) {
          try {
            const details = await readOne(arn, places.length <= few || hurried.has(arn), context);
            if (details === undefined) isSpent = true;
            else found.set(arn, details);
          } catch (error) {
            complain("questions and progress are not seen", error, context.log);
            if (toBridgeError(error).code === "throttled") isSpent = true;
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      for (const arn of readAt.keys()) {
        if (readAt.size <= mostRemembered) break;
        readAt.delete(arn);
      }
      return found;
    },
    readEnd: async ({ arn, previous }, signal) => {
      const { rows } = await client.history(arn, { size: 1 }, signal);
      const [last]: readonly (HistoryEvent | undefined)[] = rows;
      const status = last === undefined ? undefined : ends[last.type];
      if (last === undefined || status === undefined) return undefined;
      const { output, error, cause } = last;
      const told = {
        ...(output === undefined ? {} : { output }),
        ...(error === undefined ? {} : { error }),
        ...(cause === undefined ? {} : { cause }),
      };
      return toSnapshot({ arn, status, startedAt: previous?.startedAt ?? 0, endedAt: last.at, ...told });
    },
    hurry: (arn) => {
      hurried.add(arn);
      if (hurried.size > mostRemembered) hurried.delete(hurried.values().next().value ?? "");
    },
    forget: (arn) => {
      readAt.delete(arn);
      hurried.delete(arn);
    },
  };
};

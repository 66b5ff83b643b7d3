import type { CallContext, ExecutionQuestion, ExecutionSnapshot } from "@taskbridge/core/adapter";
import type { Quotas } from "../aws/quotas.ts";
import type { ExecutionLocation } from "../mapping/execution-arn.ts";
import type { HistoryFold } from "./fold-history.ts";
import type { HistoryReader } from "./history-reader.ts";
import type { LogOnce } from "./log-once.ts";
import type { ProgressReader } from "./progress-reader.ts";
import type { ReadingTurns } from "./reading-turns.ts";
import { toQuestion } from "./to-question.ts";

/** What a running execution's history adds to its snapshot. */
export type Details = Pick<ExecutionSnapshot, "questions" | "progress"> & { readonly status: "running" | "waiting" };

export interface DetailTools {
  readonly histories: HistoryReader;
  readonly turns: ReadingTurns;
  readonly readProgress: ProgressReader;
  readonly warn: LogOnce;
}

/** How long a page waits for its turn (milliseconds). */
const waitMs = 2_000;

/**
 * A task that has not handed its token on yet may still fail to. What does not say so is taken to wait after this long (milliseconds, by
 * clocks that may differ).
 */
const submitMs = 10_000;

const noToken =
  "waits for a task token that is not found in what it sends: left out, deeper than 12 levels, or one of several that may be it";

const toQuestions = (
  { callbacks }: HistoryFold,
  machineArn: string,
  warn: LogOnce,
  { now, log }: CallContext,
): readonly ExecutionQuestion[] =>
  callbacks.flatMap((callback) => {
    if (!callback.isSubmitted && now() - callback.at < submitMs) return [];
    const question = toQuestion(callback);
    if (question === undefined) warn(`${machineArn}: the state ${callback.state} ${noToken}`, log);
    return question ?? [];
  });

/** Undefined: the rate of reading histories does not suffice now, or soon, when it `waits`. */
export const readDetails = async (
  { histories, turns, readProgress, warn }: DetailTools,
  { arn, machineArn }: ExecutionLocation,
  rates: Quotas,
  waits: boolean,
  context: CallContext,
): Promise<Details | undefined> => {
  let pages = 0;
  const take = async (): Promise<boolean> =>
    waits || pages++ > 0 ? rates.history.take(waitMs, context.signal) : rates.history.tryTake(rates.historyReserve);
  const fold = await histories.read(arn, take, context.signal);
  if (fold === undefined) return undefined;
  turns.wasRead(arn);
  const questions = toQuestions(fold, machineArn, warn, context);
  const progress = await readProgress(machineArn, fold, rates, context);
  return { status: questions.length > 0 ? "waiting" : "running", questions, progress };
};

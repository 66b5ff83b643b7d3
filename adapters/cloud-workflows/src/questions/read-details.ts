import { type CallContext, type ExecutionSnapshot, isObject } from "@taskbridge/core/adapter";
import type { Execution, GcwClient, Step, StepEntry } from "../google/client.ts";
import type { ExecutionLocation } from "../mapping/execution-name.ts";
import type { HistoryReader } from "./history-reader.ts";
import type { Evidence, Known } from "./match-steps.ts";
import { toProgress } from "./to-progress.ts";
import { isOpen, toQuestions } from "./to-questions.ts";

/** What a running execution's callbacks and steps add to its snapshot. */
export type Details = Pick<ExecutionSnapshot, "questions" | "progress"> & { readonly status: "running" | "waiting" };

export interface DetailItem {
  readonly location: ExecutionLocation;
  /** As they are seen now; undefined where nobody has looked. */
  readonly steps: readonly Step[] | undefined;
  /** What it was started with: JSON; undefined where nobody has looked. */
  readonly argument: string | undefined;
}

/** What a read may use. False: the rate does not allow it. */
export interface ReadRates {
  /** Takes the first list of callbacks. */
  begin(): Promise<boolean>;
  /** Takes a list of callbacks or of steps for one that was begun. */
  goOn(): Promise<boolean>;
  /** Takes one read of an execution. */
  get(): Promise<boolean>;
  /** Whether steps may be read where nothing is asked. */
  hasPlenty(): boolean;
}

export interface ReadTools {
  readonly client: Pick<GcwClient, "callbacks" | "get">;
  readonly entriesOf: HistoryReader;
  readonly rates: ReadRates;
  /** Of the workflow, by step. */
  readonly prompts: Evidence["prompts"];
  /** What earlier looks have shown, by callback. */
  readonly known: ReadonlyMap<string, Known>;
}

export interface DetailRead {
  readonly details: Details;
  /** By callback. */
  readonly known: ReadonlyMap<string, Known>;
}

type Witness = Pick<Execution, "argument"> & Partial<Pick<Execution, "steps">>;

/**
 * What the execution itself tells of an open callback: what it was started with, where a variable tells what is asked, and where it is,
 * where no history does. It may have gone on since it was looked at, and to another callback. False when the rate does not allow it.
 */
const witness = async (
  { client, rates, prompts }: ReadTools,
  { location, argument }: DetailItem,
  entries: readonly StepEntry[] | undefined,
  signal: AbortSignal,
): Promise<Witness | false> => {
  const needsSteps = entries === undefined && Object.keys(prompts).length > 0;
  const needsArgument = argument === undefined && entries?.some(({ variables }) => isObject(variables.mcp));
  if (needsSteps || needsArgument) return (await rates.get()) && client.get(location.name, signal);
  return argument === undefined ? {} : { argument };
};

/** Reads one execution's callbacks and steps. Undefined when the rates do not allow it. Rejects with the client's errors. */
export const readDetails = async (
  tools: ReadTools,
  item: DetailItem,
  context: CallContext,
): Promise<DetailRead | undefined> => {
  const { client, entriesOf, rates, prompts, known } = tools;
  const { location } = item;
  const { signal } = context;
  if (!(await rates.begin())) return undefined;
  const callbacks = await client.callbacks(location.name, signal);
  const isAsked = callbacks.some(isOpen);
  const needsEntries = isAsked || rates.hasPlenty();
  if (needsEntries && !(await rates.goOn())) return undefined;
  const entries = needsEntries ? await entriesOf(location, context) : undefined;
  const seen = isAsked ? await witness(tools, item, entries, signal) : {};
  if (seen === false) return undefined;
  const asked = toQuestions({
    workflowId: location.workflowId,
    callbacks,
    entries,
    current: seen.steps ?? [],
    prompts,
    argument: seen.argument,
    known,
  });
  // A callback that was open before and after the steps were read has its step among them. One that was answered meanwhile has not.
  if (isAsked && !(await rates.goOn())) return undefined;
  const still = isAsked ? (await client.callbacks(location.name, signal)).filter(isOpen) : [];
  const open = asked.filter(({ callbackId }) => still.some(({ id }) => id === callbackId));
  const progress = toProgress(entries, item.steps ?? []);
  const details: Details = {
    status: open.length > 0 ? "waiting" : "running",
    questions: open.map(({ question }) => question),
    ...(progress === undefined ? {} : { progress }),
  };
  return { details, known: new Map(open.map((one) => [one.callbackId, one.known])) };
};

import { type CallContext, type ExecutionSnapshot, isObject } from "@taskbridge/core/adapter";
import type { GcwClient, Step, StepEntry } from "../google/client.ts";
import type { ExecutionPlace } from "../mapping/execution-name.ts";
import type { HistoryReader } from "./history-reader.ts";
import type { Evidence, Known } from "./match-steps.ts";
import { toProgress } from "./to-progress.ts";
import { isOpen, toQuestions } from "./to-questions.ts";

/** What a running execution's callbacks and steps add to its snapshot. */
export type Details = Pick<ExecutionSnapshot, "questions" | "progress"> & { readonly status: "running" | "waiting" };

export interface DetailItem {
  readonly place: ExecutionPlace;
  /** As they are seen now; undefined where nobody has looked. */
  readonly steps: readonly Step[] | undefined;
  /** What it was started with: JSON; undefined where nobody has looked. */
  readonly argument: string | undefined;
}

/** What a read may use. False: the rate does not allow it. */
export interface ReadRates {
  /** Takes one list of callbacks or of steps. */
  detail(): Promise<boolean>;
  /** Takes one read of an execution. */
  get(): Promise<boolean>;
  /** Whether steps may be read where nothing is asked. */
  hasPlenty(): boolean;
}

/** What earlier looks have shown. */
export interface Remembered {
  readonly steps: readonly Step[];
  /** By callback. */
  readonly known: ReadonlyMap<string, Known>;
}

export interface ReadTools {
  readonly client: Pick<GcwClient, "callbacks" | "get">;
  readonly entriesOf: HistoryReader;
  readonly rates: ReadRates;
  /** Of the workflow, by step. */
  readonly prompts: Evidence["prompts"];
  readonly remembered: () => Remembered;
}

export interface DetailRead extends Pick<Remembered, "known"> {
  readonly details: Details;
}

/** What an execution was started with, where a prompt may be taken from it. False, with nothing read, when the rate does not allow it. */
const argumentOf = async (
  { client, rates }: ReadTools,
  { place, argument }: DetailItem,
  entries: readonly StepEntry[] | undefined,
  signal: AbortSignal,
): Promise<string | undefined | false> => {
  if (argument !== undefined || !entries?.some(({ variables }) => isObject(variables.mcp))) return argument;
  return (await rates.get()) && (await client.get(place.name, signal)).argument;
};

/** Reads one execution's callbacks and steps. Undefined when the rates do not allow it. Rejects with the client's errors. */
export const readDetails = async (
  tools: ReadTools,
  item: DetailItem,
  context: CallContext,
): Promise<DetailRead | undefined> => {
  const { client, entriesOf, rates, prompts, remembered } = tools;
  const { place } = item;
  const { signal } = context;
  if (!(await rates.detail())) return undefined;
  const callbacks = await client.callbacks(place.name, signal);
  const isAsked = callbacks.some(isOpen);
  const needsEntries = isAsked || rates.hasPlenty();
  if (needsEntries && !(await rates.detail())) return undefined;
  const entries = needsEntries ? await entriesOf(place, context) : undefined;
  const argument = isAsked ? await argumentOf(tools, item, entries, signal) : undefined;
  if (argument === false) return undefined;
  const { steps, known: before } = remembered();
  const asked = toQuestions({
    workflowId: place.workflowId,
    callbacks,
    entries,
    current: item.steps ?? steps,
    prompts,
    argument,
    known: before,
  });
  // A callback that was open before and after the steps were read has its step among them. One that was answered meanwhile has not.
  if (isAsked && !(await rates.detail())) return undefined;
  const still = isAsked ? (await client.callbacks(place.name, signal)).filter(isOpen) : [];
  const open = asked.filter(({ callbackId }) => still.some(({ id }) => id === callbackId));
  const progress = toProgress(entries, item.steps ?? []);
  const details: Details = {
    status: open.length > 0 ? "waiting" : "running",
    questions: open.map(({ question }) => question),
    ...(progress === undefined ? {} : { progress }),
  };
  return { details, known: new Map(open.map(({ callbackId, known }) => [callbackId, known])) };
};

import { type CallContext, type ExecutionSnapshot, toBridgeError } from "@taskbridge/core/adapter";
import type { GcwClient, Step, StepEntry } from "../google/client.ts";
import type { Quotas } from "../google/token-bucket.ts";
import { isObject } from "../is-object.ts";
import type { ExecutionPlace } from "../mapping/execution-name.ts";
import { toStepsText } from "../mapping/to-snapshot.ts";
import type { Prompts } from "../settings/parse-prompts.ts";
import { historyReader } from "./history-reader.ts";
import { callsIn, type Known } from "./match-steps.ts";
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

export interface DetailReader {
  /**
   * Of those that have moved, and of the others now and then, as many as the rate allows and as are begun before `beginWithinMs` have
   * passed; those first that have moved, then those that were read longest ago. Whatever goes wrong is logged: what is known of their
   * status is told all the same.
   */
  read(items: readonly DetailItem[], context: CallContext): Promise<ReadonlyMap<string, Details>>;
  /** Those of these whose steps are to be looked at again: the longer they have stayed where they are, the more seldom. */
  stale<Place extends ExecutionPlace>(places: readonly Place[]): readonly Place[];
  /** Where an execution is seen to be. */
  note(name: string, steps: readonly Step[]): void;
  /** How far it was when its details were read, while it has not moved since. */
  progressOf(name: string): ExecutionSnapshot["progress"];
  /** It has ended. */
  forget(name: string): void;
}

/** So few are read at every look, and wait for their turn. */
const few = 5;
/** How long one waits for its turn (milliseconds). */
const waitMs = 2_000;
const atOnce = 8;
/** Statuses that are known wait for callbacks: none is read in this look after so long (milliseconds). */
const beginWithinMs = 1_000;
/** What stays as it is is looked at again after a pause that doubles up to this (milliseconds). */
const shortestPauseMs = 1_000;
const longestPauseMs = 30_000;
/** Executions that are remembered. */
const mostRemembered = 20_000;

/** What was seen last, and when it is to be looked at again. */
interface Memory {
  readonly told: string;
  readonly at: number;
  readonly pauseMs: number;
}

const forgetOldest = (kept: Map<string, unknown>): void => {
  for (const oldest of kept.keys()) {
    if (kept.size <= mostRemembered) break;
    kept.delete(oldest);
  }
};

const memories = () => {
  const kept = new Map<string, Memory>();
  return {
    get: (name: string): Memory | undefined => kept.get(name),
    isDue: (name: string): boolean => {
      const memory = kept.get(name);
      return memory === undefined || performance.now() - memory.at >= memory.pauseMs;
    },
    note: (name: string, told: string): void => {
      const before = kept.get(name);
      const pauseMs = before?.told === told ? Math.min(before.pauseMs * 2, longestPauseMs) : shortestPauseMs;
      kept.delete(name);
      kept.set(name, { told, at: performance.now(), pauseMs });
      forgetOldest(kept);
    },
    forget: (name: string): void => {
      kept.delete(name);
    },
  };
};

const progressOf = (
  entries: readonly StepEntry[] | undefined,
  current: readonly Step[],
): ExecutionSnapshot["progress"] => {
  const calls = entries === undefined ? [] : callsIn(entries);
  const message = toStepsText(calls.length > 0 ? calls : current);
  const loop = entries?.findLast(({ iteration, iterations }) => iteration !== undefined && iterations !== undefined);
  const { iteration = 1, iterations } = loop ?? {};
  const counts = iterations === undefined ? {} : { done: Math.min(iteration - 1, iterations), total: iterations };
  const progress = { ...counts, ...(message === undefined ? {} : { message }) };
  return Object.keys(progress).length === 0 ? undefined : progress;
};

/** How far an execution was when its details were read, and what was found out about its callbacks. */
interface Read {
  /** Where it was. */
  readonly steps: string | undefined;
  readonly progress: Details["progress"];
  readonly known: ReadonlyMap<string, Known>;
}

const nothing: ReadonlyMap<string, Known> = new Map();

export const detailReader = (client: GcwClient, { detail, get }: Quotas, prompts: Prompts): DetailReader => {
  const steps = memories();
  const details = memories();
  const readAt = new Map<string, Read>();
  const mostLeft = detail.left();
  const complaints = new Set<string>();

  const complain = (what: string, error: unknown, log: CallContext["log"]): void => {
    const { code, message } = toBridgeError(error);
    if (code === "not_found" || complaints.has(message)) return;
    complaints.add(message);
    log("warn", `${what}: ${message}`);
  };

  const entriesOf = historyReader(client, (error, log) =>
    complain("steps are told by the execution alone", error, log),
  );

  const hasMoved = ({ place: { name } }: DetailItem): boolean =>
    details.get(name) === undefined || steps.get(name)?.told !== readAt.get(name)?.steps;

  const remember = (name: string, { progress, questions }: Details, known: Read["known"]): void => {
    const at = steps.get(name)?.told;
    details.note(name, JSON.stringify([at, progress, questions?.map(({ id }) => id)]));
    readAt.delete(name);
    readAt.set(name, { steps: at, progress, known });
    forgetOldest(readAt);
  };

  /** What an execution was started with, where a prompt may be taken from it. False, with nothing read, when the rate does not allow it. */
  const argumentOf = async (
    { place, argument }: DetailItem,
    entries: readonly StepEntry[] | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined | false> => {
    if (argument !== undefined || !entries?.some(({ variables }) => isObject(variables.mcp))) return argument;
    return (await get.take(waitMs, signal)) && (await client.get(place.name, signal)).argument;
  };

  const readOne = async (item: DetailItem, waits: boolean, context: CallContext): Promise<Details | undefined> => {
    const { place } = item;
    const { signal } = context;
    const take = (): Promise<boolean> => (waits ? detail.take(waitMs, signal) : Promise.resolve(detail.tryTake()));
    if (!(await take())) return undefined;
    const callbacks = await client.callbacks(place.name, signal);
    const isAsked = callbacks.some(isOpen);
    // Of many that wait for nobody, the execution's own step must do.
    const needsEntries = waits || isAsked || detail.left() > mostLeft / 2;
    if (needsEntries && !(await take())) return undefined;
    const entries = needsEntries ? await entriesOf(place, context) : undefined;
    const argument = isAsked ? await argumentOf(item, entries, signal) : undefined;
    if (argument === false) return undefined;
    const asked = toQuestions({
      workflowId: place.workflowId,
      callbacks,
      entries,
      current: item.steps ?? (JSON.parse(steps.get(place.name)?.told ?? "[]") as readonly Step[]),
      prompts: prompts[place.workflowId] ?? {},
      argument,
      known: readAt.get(place.name)?.known ?? nothing,
    });
    // A callback that was open before and after the steps were read has its step among them. One that was answered meanwhile has not.
    if (isAsked && !(await take())) return undefined;
    const still = isAsked ? (await client.callbacks(place.name, signal)).filter(isOpen) : [];
    const open = asked.filter(({ callbackId }) => still.some(({ id }) => id === callbackId));
    const progress = progressOf(entries, item.steps ?? []);
    const told: Details = {
      status: open.length > 0 ? "waiting" : "running",
      questions: open.map(({ question }) => question),
      ...(progress === undefined ? {} : { progress }),
    };
    remember(place.name, told, new Map(open.map(({ callbackId, known }) => [callbackId, known])));
    return told;
  };

  return {
    read: async (items, context) => {
      const found = new Map<string, Details>();
      const waits = items.length <= few;
      const rankOf = (item: DetailItem): number => (hasMoved(item) ? 0 : (details.get(item.place.name)?.at ?? 0));
      const due = waits ? items : items.filter((item) => hasMoved(item) || details.isDue(item.place.name));
      const queue = due
        .map((item) => ({ item, rank: rankOf(item) }))
        .sort((one, other) => one.rank - other.rank)
        .map(({ item }) => item);
      const until = performance.now() + beginWithinMs;
      let isSpent = false;
      const work = async (): Promise<void> => {
        const mayGoOn = (): boolean => !isSpent && !context.signal.aborted && (waits || performance.now() < until);
        for (let item = queue.shift(); item !== undefined && mayGoOn(); item = queue.shift()) {
          try {
            const told = await readOne(item, waits, context);
            if (told === undefined) isSpent = true;
            else found.set(item.place.name, told);
          } catch (error) {
            if (!context.signal.aborted) complain("questions are not seen", error, context.log);
            if (toBridgeError(error).code === "throttled") isSpent = true;
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      return found;
    },
    stale: (places) =>
      places
        .filter(({ name }) => steps.isDue(name))
        .map((place) => ({ place, at: steps.get(place.name)?.at ?? 0 }))
        .sort((one, other) => one.at - other.at)
        .map(({ place }) => place),
    note: (name, seen) => steps.note(name, JSON.stringify(seen)),
    progressOf: (name) => {
      const read = readAt.get(name);
      return read === undefined || read.steps !== steps.get(name)?.told ? undefined : read.progress;
    },
    forget: (name) => {
      steps.forget(name);
      details.forget(name);
      readAt.delete(name);
    },
  };
};

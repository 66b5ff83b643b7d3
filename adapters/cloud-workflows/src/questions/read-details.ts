import { type CallContext, type ExecutionSnapshot, toBridgeError } from "@taskbridge/core/adapter";
import { type GcwClient, mostSteps, type Step, type StepEntry } from "../google/client.ts";
import type { Quotas } from "../google/token-bucket.ts";
import type { ExecutionPlace } from "../mapping/execution-name.ts";
import { toStepsText } from "../mapping/to-snapshot.ts";
import type { Prompts } from "../settings/parse-prompts.ts";
import { callsIn } from "./match-steps.ts";
import { toQuestions } from "./to-questions.ts";

/** What a running execution's callbacks and steps add to its snapshot. */
export type Details = Pick<ExecutionSnapshot, "questions" | "progress"> & { readonly status: "running" | "waiting" };

export interface DetailItem {
  readonly place: ExecutionPlace;
  /** As they are seen now; undefined where nobody has looked. */
  readonly steps: readonly Step[] | undefined;
}

export interface DetailReader {
  /**
   * Of those that have moved, and of the others now and then, as many as the rate allows and as are read when the signal fires; those
   * first that were read longest ago. Whatever goes wrong is logged: what is known of their status is told all the same.
   */
  read(items: readonly DetailItem[], context: CallContext): Promise<ReadonlyMap<string, Details>>;
  /** When it was read last, by a clock that only runs forward (milliseconds); 0: never. */
  readAt(name: string): number;
  /** It has ended. */
  forget(name: string): void;
}

/** So few are read at every look, and wait for their turn. */
const few = 5;
/** How long one waits for its turn (milliseconds). */
const waitMs = 2_000;
const atOnce = 8;
/** What stays as it is is read again after a pause that doubles up to this (milliseconds). */
const shortestPauseMs = 1_000;
const longestPauseMs = 30_000;
/** Where histories cannot be read, they are not tried again for so long (milliseconds). */
const noHistoryMs = 600_000;
/** Executions that are remembered. */
const mostRemembered = 20_000;

interface Memory {
  readonly readAt: number;
  readonly pauseMs: number;
  readonly steps: string;
  readonly told: string;
}

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

export const detailReader = (client: GcwClient, { detail }: Quotas, prompts: Prompts): DetailReader => {
  const memories = new Map<string, Memory>();
  const complaints = new Set<string>();
  const withoutHistory = new Map<string, number>();

  const complain = (what: string, error: unknown, log: CallContext["log"]): void => {
    const { code, message } = toBridgeError(error);
    if (code === "not_found" || complaints.has(message)) return;
    complaints.add(message);
    log("warn", `${what}: ${message}`);
  };

  /** Undefined where there are none: not kept, not allowed, or not known to a local engine. */
  const entriesOf = async ({ name, workflow }: ExecutionPlace, { signal, log }: CallContext) => {
    if (performance.now() - (withoutHistory.get(workflow) ?? Number.NEGATIVE_INFINITY) < noHistoryMs) return undefined;
    try {
      const entries = await client.stepsInProgress(name, signal);
      // An execution that goes on is at some step, and of so many there may be more.
      return entries.length === 0 || entries.length >= mostSteps ? undefined : entries;
    } catch (error) {
      const { code } = toBridgeError(error);
      if (code === "throttled" || code === "unavailable") throw error;
      // It may merely have ended.
      if (code !== "not_found") withoutHistory.set(workflow, performance.now());
      complain("steps are told by the execution alone", error, log);
      return undefined;
    }
  };

  const remember = ({ place, steps }: DetailItem, details: Details): void => {
    const before = memories.get(place.name);
    const at = JSON.stringify(steps ?? []);
    const told = JSON.stringify([details.progress, details.questions?.map(({ id }) => id)]);
    const isSame = before !== undefined && before.told === told && (steps === undefined || before.steps === at);
    const pauseMs = isSame ? Math.min(before.pauseMs * 2, longestPauseMs) : shortestPauseMs;
    memories.delete(place.name);
    memories.set(place.name, { readAt: performance.now(), pauseMs, steps: at, told });
    for (const oldest of memories.keys()) {
      if (memories.size <= mostRemembered) break;
      memories.delete(oldest);
    }
  };

  const readOne = async (item: DetailItem, waits: boolean, context: CallContext): Promise<Details | undefined> => {
    const { place } = item;
    const { signal } = context;
    const take = (): Promise<boolean> => (waits ? detail.take(waitMs, signal) : Promise.resolve(detail.tryTake()));
    if (!(await take())) return undefined;
    const callbacks = await client.callbacks(place.name, signal);
    if (!(await take())) return undefined;
    // After the callbacks: the step that waits next is never taken for the one that an open callback is of.
    const entries = await entriesOf(place, context);
    const current = item.steps ?? [];
    const progress = progressOf(entries, current);
    const questions = toQuestions({
      workflowId: place.workflowId,
      callbacks,
      entries,
      current,
      prompts: prompts[place.workflowId] ?? {},
      urlOf: (callbackId) => client.callbackUrl(place.name, callbackId),
    });
    const details: Details = {
      status: questions.length > 0 ? "waiting" : "running",
      questions,
      ...(progress === undefined ? {} : { progress }),
    };
    remember(item, details);
    return details;
  };

  const isDue = ({ place, steps }: DetailItem): boolean => {
    const memory = memories.get(place.name);
    if (memory === undefined || (steps !== undefined && memory.steps !== JSON.stringify(steps))) return true;
    return performance.now() - memory.readAt >= memory.pauseMs;
  };

  return {
    read: async (items, context) => {
      const found = new Map<string, Details>();
      const readAt = ({ place }: DetailItem): number => memories.get(place.name)?.readAt ?? 0;
      const waits = items.length <= few;
      const queue = (waits ? [...items] : items.filter(isDue)).sort((one, other) => readAt(one) - readAt(other));
      let isSpent = false;
      const work = async (): Promise<void> => {
        for (
          let item = queue.shift();
          item !== undefined && !isSpent && !context.signal.aborted;
          item = queue.shift()
        ) {
          try {
            const details = await readOne(item, waits, context);
            if (details === undefined) isSpent = true;
            else found.set(item.place.name, details);
          } catch (error) {
            complain("questions are not seen", error, context.log);
            if (toBridgeError(error).code === "throttled") isSpent = true;
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      return found;
    },
    readAt: (name) => memories.get(name)?.readAt ?? 0,
    forget: (name) => {
      memories.delete(name);
    },
  };
};

import { type CallContext, type ExecutionSnapshot, toBridgeError } from "@taskbridge/core/adapter";
import type { GcwClient, Step } from "../google/client.ts";
import type { Quotas } from "../google/quotas.ts";
import type { ExecutionPlace } from "../mapping/execution-name.ts";
import type { Prompts } from "../settings/parse-prompts.ts";
import { historyReader } from "./history-reader.ts";
import { forgetOldest, lookMemories } from "./look-memories.ts";
import type { Known } from "./match-steps.ts";
import { type DetailItem, type Details, type ReadRates, type Remembered, readDetails } from "./read-details.ts";

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
const mostWaiting = 5;
/** How long one waits for its turn (milliseconds). */
const waitMs = 2_000;
/** Executions read side by side. */
const atOnce = 8;
/** Statuses that are known wait for callbacks: none is read in this look after so long (milliseconds). */
const beginWithinMs = 1_000;

/** How far an execution was when its details were read, and what was found out about its callbacks. */
interface Read {
  /** Where it was. */
  readonly steps: string | undefined;
  readonly progress: Details["progress"];
  readonly known: ReadonlyMap<string, Known>;
}

/** Reads details of running executions within the rates, and remembers what it has read. */
export const detailReader = (client: GcwClient, { detail, get }: Quotas, prompts: Prompts): DetailReader => {
  const steps = lookMemories();
  const details = lookMemories();
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

  const readOne = async (item: DetailItem, waits: boolean, context: CallContext): Promise<Details | undefined> => {
    const { name, workflowId } = item.place;
    const rates: ReadRates = {
      detail: async () => (waits ? detail.take(waitMs, context.signal) : detail.tryTake()),
      get: () => get.take(waitMs, context.signal),
      // Of many that wait for nobody, the execution's own step must do.
      hasPlenty: () => waits || detail.left() > mostLeft / 2,
    };
    const remembered = (): Remembered => ({
      steps: JSON.parse(steps.get(name)?.told ?? "[]") as readonly Step[],
      known: readAt.get(name)?.known ?? new Map(),
    });
    const tools = { client, entriesOf, rates, prompts: prompts[workflowId] ?? {}, remembered };
    const read = await readDetails(tools, item, context);
    if (read === undefined) return undefined;
    remember(name, read.details, read.known);
    return read.details;
  };

  return {
    read: async (items, context) => {
      const found = new Map<string, Details>();
      const waits = items.length <= mostWaiting;
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

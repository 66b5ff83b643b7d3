import { type CallContext, type ExecutionSnapshot, toBridgeError } from "@taskbridge/core/adapter";
import type { GcwClient, Step } from "../google/client.ts";
import type { Quotas } from "../google/quotas.ts";
import type { ExecutionLocation } from "../mapping/execution-name.ts";
import type { Prompts } from "../settings/parse-prompts.ts";
import { historyReader } from "./history-reader.ts";
import { forgetOldest, inspectionMemories } from "./inspection-memories.ts";
import type { Known } from "./match-steps.ts";
import { type DetailItem, type DetailRead, type Details, type ReadRates, readDetails } from "./read-details.ts";
import { type Candidate, readingOrder } from "./reading-order.ts";
import { toProgress } from "./to-progress.ts";

export interface DetailReader {
  /**
   * Of those that have moved, and of the others now and then, as many as the rate allows and as are begun before `beginWithinMs` have
   * passed; those first that have moved, then those that were read longest ago, which leave half of the rate to the former. Whatever
   * goes wrong is logged: what is known of their status is told all the same.
   */
  read(items: readonly DetailItem[], context: CallContext): Promise<ReadonlyMap<string, Details>>;
  /** Those of these whose steps are to be looked at again: the longer they have stayed where they are, the more seldom. */
  stale<Location extends ExecutionLocation>(locations: readonly Location[]): readonly Location[];
  /** Where an execution is seen to be. */
  note(name: string, steps: readonly Step[]): void;
  /** How far it was when its details were read; once it has moved since, where it is seen to be. */
  progressOf(name: string): ExecutionSnapshot["progress"];
  /** It has ended. */
  forget(name: string): void;
}

/** So few are read at every look, and wait for their turn. */
const maxWaiting = 5;
/** How long one waits for its turn (milliseconds). */
const waitMs = 2_000;
/** Executions read side by side. */
const atOnce = 8;
/** Statuses that are known wait for callbacks: none is read in this look after so long (milliseconds). */
const beginWithinMs = 1_000;

/** One that is seen to stay where no callback was ever open is read again after this at the latest (milliseconds). */
const quietPauseMs = 120_000;

/** How far an execution was when its details were read, and what was found out about its callbacks. */
interface Read {
  /** Where it was. */
  readonly steps: string | undefined;
  readonly progress: Details["progress"];
  readonly known: ReadonlyMap<string, Known>;
}

/** Reads details of running executions within the rates, and remembers what it has read. */
export const detailReader = (client: GcwClient, { detail, get }: Quotas, prompts: Prompts): DetailReader => {
  const steps = inspectionMemories();
  const details = inspectionMemories();
  const readAt = new Map<string, Read>();
  const maxLeft = detail.left();
  const order = readingOrder();
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

  const notedOf = (name: string): readonly Step[] | undefined => {
    const seen = steps.get(name)?.seen;
    return seen === undefined ? undefined : (JSON.parse(seen) as readonly Step[]);
  };

  /** Where it is seen to be. An execution that tells no step may be anywhere. */
  const locationOf = ({ workflow }: ExecutionLocation, seen: string | undefined): string | undefined =>
    seen === undefined || seen === "[]" ? undefined : `${workflow} ${seen}`;

  const toCandidate = (item: DetailItem): Candidate & { readonly item: DetailItem } => {
    const { name } = item.location;
    const seen = steps.get(name)?.seen;
    const before = details.get(name);
    const hasMoved = before === undefined || seen !== readAt.get(name)?.steps;
    const isAsked = (readAt.get(name)?.known.size ?? 0) > 0;
    return { item, location: locationOf(item.location, seen), hasMoved, isAsked, readAt: before?.at };
  };

  /** `at`: where it was before it was read, since it may have gone on meanwhile. */
  const remember = (
    location: ExecutionLocation,
    at: string | undefined,
    { details: read, known }: DetailRead,
  ): void => {
    const { name } = location;
    const { progress, questions = [] } = read;
    const where = locationOf(location, at);
    if (where !== undefined) order.learn(where, questions.length > 0);
    const isQuiet = where !== undefined && !order.mayAsk(where);
    const seen = JSON.stringify([at, progress, questions.map(({ id }) => id)]);
    details.note(name, seen, ...(isQuiet ? [quietPauseMs] : []));
    readAt.delete(name);
    readAt.set(name, { steps: at, progress, known });
    forgetOldest(readAt);
  };

  const readOne = async (item: DetailItem, rates: ReadRates, context: CallContext): Promise<Details | undefined> => {
    const { name, workflowId } = item.location;
    const at = steps.get(name)?.seen;
    const known = readAt.get(name)?.known ?? new Map<string, Known>();
    const tools = { client, entriesOf, rates, prompts: prompts[workflowId] ?? {}, known };
    const read = await readDetails(tools, { ...item, steps: item.steps ?? notedOf(name) }, context);
    if (read === undefined) return undefined;
    remember(item.location, at, read);
    return read.details;
  };

  /** Of few, each waits for its turn. Of many, what has not moved leaves half of the rate to what has. */
  const ratesFor = (isUrgent: boolean, waits: boolean, { signal }: CallContext): ReadRates => {
    const take = (): Promise<boolean> => detail.take(waitMs, signal);
    return {
      begin: async () => (waits ? take() : detail.tryTake(isUrgent ? 0 : maxLeft / 2)),
      goOn: take,
      get: () => get.take(waitMs, signal),
      // Of many that wait for nobody, the execution's own step must do.
      hasPlenty: () => waits || detail.left() > (3 * maxLeft) / 4,
    };
  };

  return {
    read: async (items, context) => {
      const found = new Map<string, Details>();
      const waits = items.length <= maxWaiting;
      const candidates = items.map(toCandidate);
      const queue = [
        ...order.sort(
          waits ? candidates : candidates.filter(({ item, hasMoved }) => hasMoved || details.isDue(item.location.name)),
        ),
      ];
      const until = performance.now() + beginWithinMs;
      let isSpent = false;
      const work = async (): Promise<void> => {
        const mayGoOn = (): boolean => !isSpent && !context.signal.aborted && (waits || performance.now() < until);
        for (let next = queue.shift(); next !== undefined && mayGoOn(); next = queue.shift()) {
          const { item } = next;
          try {
            const seen = await readOne(item, ratesFor(order.isUrgent(next), waits, context), context);
            if (seen === undefined) isSpent = true;
            else found.set(item.location.name, seen);
          } catch (error) {
            if (!context.signal.aborted) complain("questions are not seen", error, context.log);
            if (toBridgeError(error).code === "throttled") isSpent = true;
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      return found;
    },
    stale: (locations) =>
      locations
        .filter(({ name }) => steps.isDue(name))
        .map((location) => ({ location, at: steps.get(location.name)?.at ?? 0 }))
        .sort((one, other) => one.at - other.at)
        .map(({ location }) => location),
    note: (name, seen) => steps.note(name, JSON.stringify(seen)),
    progressOf: (name) => {
      const read = readAt.get(name);
      const hasStayed = read !== undefined && read.steps === steps.get(name)?.seen;
      return hasStayed ? read.progress : toProgress(undefined, notedOf(name) ?? []);
    },
    forget: (name) => {
      steps.forget(name);
      details.forget(name);
      readAt.delete(name);
    },
  };
};

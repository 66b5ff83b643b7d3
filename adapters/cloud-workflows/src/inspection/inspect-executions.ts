import {
  BridgeError,
  type CallContext,
  type ExecutionSnapshot,
  type InspectItem,
  type InspectOutcome,
  isEnded,
  toBridgeError,
} from "@taskbridge/core/adapter";
import type { Execution, GcwClient, Step } from "../google/client.ts";
import type { Quotas } from "../google/quotas.ts";
import { type ExecutionLocation, executionNameOf, parseRef } from "../mapping/execution-name.ts";
import { toSnapshot, unavailableBecause } from "../mapping/to-snapshot.ts";
import type { DetailReader } from "../questions/detail-reader.ts";
import type { StepLists } from "./step-lists.ts";
import { pageSizes, type RunningList, type Sweeps } from "./sweeps.ts";

/** The console's page; undefined for executions of a local engine. */
export type UrlOf = (location: ExecutionLocation) => string | undefined;

export interface InspectTools {
  readonly client: GcwClient;
  readonly quotas: Quotas;
  readonly sweeps: Sweeps;
  readonly stepLists: StepLists;
  readonly details: DetailReader;
  readonly urlOf: UrlOf;
  /** How long a list is waited for: what it has not told by then is read one by one (milliseconds). */
  readonly listMs: number;
  /** Reads begin within this time in one look: those whose turn comes later are looked at again (milliseconds). */
  readonly readMs: number;
  /** How long callbacks and steps are waited for, while statuses that are known wait with them (milliseconds). */
  readonly detailsMs: number;
}

/** A call of `list` uses up as much of its rate as so many of `get`. */
const getsPerList = 5;
/** So many ends in one look wait until callbacks are read; of more, none waits, and callbacks are left to the next look. */
const maxDelayed = 10;
/** A list with steps is read page by page: of more pages, statuses would wait too long for it. */
const maxFullPages = 10;
/** Executions read side by side. */
const atOnce = 50;

interface Inspection extends ExecutionLocation {
  readonly previous: ExecutionSnapshot | undefined;
  readonly wantsDetail: boolean;
}

interface Seen {
  readonly outcome: InspectOutcome;
  /** Of one that goes on, where they were told. */
  readonly steps?: readonly Step[];
  readonly argument?: string | undefined;
}

const notSeen =
  "Google does not show it: deleted with its workflow, of another project or location, or older than executions are kept";

const toOutcome = (error: unknown): InspectOutcome => {
  const known = toBridgeError(error);
  if (known.code === "not_found") return { notFound: { proven: false, reason: notSeen } };
  if (known.code !== "throttled" && known.code !== "unavailable") return { error: known };
  const pause = known.retryAfterMs === undefined ? {} : { retryAfterMs: known.retryAfterMs };
  return { unavailable: known.message, ...pause };
};

const toSeen = (execution: Execution, url: string | undefined): Seen => {
  const snapshot = toSnapshot(execution, url);
  if (snapshot === undefined) return { outcome: { unavailable: unavailableBecause(execution) } };
  const { steps, argument } = execution;
  return { outcome: { snapshot }, ...(isEnded(snapshot.status) ? {} : { steps, argument }) };
};

/** Counts of a loop, which a look at the status does not tell. */
const withProgress = (outcome: InspectOutcome, progress: ExecutionSnapshot["progress"]): InspectOutcome =>
  progress === undefined || !("snapshot" in outcome) || isEnded(outcome.snapshot.status)
    ? outcome
    : { snapshot: { ...outcome.snapshot, progress } };

/** Google itself says so: more calls would all be refused. Our own rates are told without its status. */
const isUsedUp = (error: BridgeError | undefined): error is BridgeError =>
  error?.code === "throttled" && error.data?.googleStatus !== undefined;

const isRunning = (outcome: InspectOutcome | undefined): boolean =>
  outcome !== undefined && "snapshot" in outcome && outcome.snapshot.status === "running";

/** Nothing is to be asked of it any more, unlike of one that merely could not be read. */
const hasGone = (outcome: InspectOutcome | undefined): boolean =>
  outcome !== undefined && ("snapshot" in outcome ? isEnded(outcome.snapshot.status) : "notFound" in outcome);

const eachOf = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> => {
  const queue = [...items];
  const next = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, next));
};

/** How a workflow's executions are looked at: each by itself, or all that go on in a list, with their steps or without. */
const planOf = ({ quotas, sweeps }: InspectTools, inspections: readonly Inspection[]): "each" | "BASIC" | "FULL" => {
  const listed = Math.max(sweeps.lastListed(inspections[0]?.workflow ?? "") ?? inspections.length, 1);
  const basicPages = Math.ceil(listed / pageSizes.BASIC);
  const fullPages = Math.ceil(listed / pageSizes.FULL);
  if (inspections.length <= getsPerList * basicPages && quotas.get.left() >= inspections.length + quotas.getReserve)
    return "each";
  const detailed = inspections.filter(({ wantsDetail }) => wantsDetail).length;
  const isCheaper = fullPages * getsPerList < basicPages * getsPerList + detailed;
  return isCheaper && fullPages <= maxFullPages && quotas.list.left() > 2 * fullPages ? "FULL" : "BASIC";
};

/** What lists tell of those that go on, as far as it is told in time. */
const sweep = async (
  { sweeps, urlOf, listMs }: InspectTools,
  inspections: readonly Inspection[],
  view: "BASIC" | "FULL",
  seen: Map<string, Seen>,
  signal: AbortSignal,
): Promise<BridgeError | undefined> => {
  const wanted = inspections.map(({ name, previous }) => ({ name, startedAt: previous?.startedAt }));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(listMs)]);
  const { running, refusal, ...list } = await sweeps
    .running(inspections[0]?.workflow ?? "", wanted, view === "FULL", limit)
    .catch((error: unknown): RunningList => {
      const known = toBridgeError(error);
      // Deleted meanwhile: its executions are asked for one by one, as they are where lists cannot be had.
      return { running: new Map(), view, listed: 0, ...(known.code === "not_found" ? {} : { refusal: known }) };
    });
  for (const inspect of inspections) {
    const execution = running.get(inspect.name);
    if (execution === undefined) continue;
    const results = toSeen(execution, urlOf(inspect));
    seen.set(inspect.name, list.view === "FULL" ? results : { outcome: results.outcome });
  }
  return refusal;
};

interface Reads {
  /** Google's quota is used up: nothing more is asked for in this look. */
  readonly isOver: () => boolean;
  /** Of some that are missing in lists, as many as the rate allows in time; the others are told to be looked at again. */
  readMissing(inspections: readonly Inspection[]): Promise<void>;
  /** Of some that go on, their steps, as far as the rate has plenty. */
  readSteps(inspections: readonly Inspection[]): Promise<void>;
}

/** Reads of single executions, into `seen`, until one is refused for Google's quota, or a list was: `usedUp`. */
const readsOf = (
  { client, quotas, urlOf, readMs }: InspectTools,
  seen: Map<string, Seen>,
  refusals: BridgeError[],
  usedUp: BridgeError | undefined,
  signal: AbortSignal,
): Reads => {
  let refusal = usedUp;
  const until = performance.now() + readMs;
  const read = async (inspect: Inspection): Promise<void> => {
    try {
      const execution = await client.get(inspect.name, signal);
      if (executionNameOf(inspect.workflow, execution.name) !== inspect.name)
        throw new BridgeError("unavailable", "the answer is about another execution, or none");
      seen.set(inspect.name, toSeen(execution, urlOf(inspect)));
    } catch (error) {
      const known = toBridgeError(error);
      refusals.push(known);
      if (isUsedUp(known)) refusal = known;
      // What a list has told is so all the same.
      if (!seen.has(inspect.name)) seen.set(inspect.name, { outcome: toOutcome(known) });
    }
  };
  const take = (): Promise<boolean> => quotas.get.take(until - performance.now(), signal).catch(() => false);
  return {
    isOver: () => refusal !== undefined,
    readMissing: (inspections) =>
      eachOf(inspections, async (inspect) => {
        const isTaken = refusal === undefined && (await take());
        if (isTaken && refusal === undefined) return read(inspect);
        const unavailable = "more executions have ended than Google lets be read; looked at soon";
        seen.set(inspect.name, { outcome: refusal === undefined ? { unavailable } : toOutcome(refusal) });
      }),
    readSteps: (inspections) =>
      eachOf(inspections, async (inspect) => {
        if (refusal === undefined && quotas.get.tryTake(quotas.getReserve)) await read(inspect);
      }),
  };
};

/** One workflow's executions. Whatever a list does not show is read by itself: it has ended, or the list lags. */
const inspectOne = async (
  tools: InspectTools,
  workflow: string,
  inspections: readonly Inspection[],
  context: CallContext,
  refusals: BridgeError[],
): Promise<ReadonlyMap<string, InspectOutcome>> => {
  const { details, stepLists } = tools;
  const { signal } = context;
  const seen = new Map<string, Seen>();
  const plan = planOf(tools, inspections);
  const refusal = plan === "each" ? undefined : await sweep(tools, inspections, plan, seen, signal);
  if (refusal !== undefined) refusals.push(refusal);
  const reads = readsOf(tools, seen, refusals, isUsedUp(refusal) ? refusal : undefined, signal);
  const missing = inspections.filter(({ name }) => !seen.has(name));
  await reads.readMissing(missing);
  const ends = missing.filter(({ name }) => !isRunning(seen.get(name)?.outcome));
  for (const { name } of ends) if (hasGone(seen.get(name)?.outcome)) details.forget(name);
  const watched = inspections.filter(({ name, wantsDetail }) => wantsDetail && isRunning(seen.get(name)?.outcome));
  const blind = watched.filter(({ name }) => seen.get(name)?.steps === undefined);
  if (!reads.isOver()) stepLists.want(workflow, blind, context.log);
  if (!stepLists.isFresh(workflow)) await reads.readSteps(details.stale(blind));
  for (const [name, { steps }] of seen) if (steps !== undefined) details.note(name, steps);
  const outcomes = new Map(
    [...seen].map(([name, { outcome }]) => [name, withProgress(outcome, details.progressOf(name))]),
  );
  const items = (ends.length > maxDelayed || reads.isOver() ? [] : watched)
    .filter(({ name }) => isRunning(outcomes.get(name)))
    .map((location) => ({
      location,
      steps: seen.get(location.name)?.steps,
      argument: seen.get(location.name)?.argument,
    }));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(tools.detailsMs)]);
  for (const [name, found] of await details.read(items, { ...context, signal: limit })) {
    const outcome = outcomes.get(name);
    if (outcome !== undefined && "snapshot" in outcome)
      outcomes.set(name, { snapshot: { ...outcome.snapshot, ...found } });
  }
  return outcomes;
};

const groupByWorkflow = (inspections: Iterable<Inspection>): ReadonlyMap<string, readonly Inspection[]> => {
  const groups = new Map<string, Inspection[]>();
  for (const inspect of inspections) {
    const group = groups.get(inspect.workflow) ?? [];
    groups.set(inspect.workflow, group);
    group.push(inspect);
  }
  return groups;
};

/** Looks at executions of any number of workflows. */
export const inspectExecutions = async (
  tools: InspectTools,
  items: readonly InspectItem[],
  context: CallContext,
): Promise<readonly InspectOutcome[]> => {
  const inspections = new Map<string, Inspection>();
  const outcomes = new Map<string, InspectOutcome>();
  for (const { ref, previous, want } of items) {
    try {
      const wantsDetail = want === "detail" || inspections.get(ref)?.wantsDetail === true;
      inspections.set(ref, { ...parseRef(ref), previous, wantsDetail });
    } catch (error) {
      outcomes.set(ref, { error: toBridgeError(error) });
    }
  }
  const refusals: BridgeError[] = [];
  await Promise.all(
    [...groupByWorkflow(inspections.values())].map(async ([workflow, group]) => {
      try {
        for (const [name, outcome] of await inspectOne(tools, workflow, group, context, refusals))
          outcomes.set(name, outcome);
      } catch (error) {
        refusals.push(toBridgeError(error));
        for (const { name } of group) outcomes.set(name, toOutcome(error));
      }
    }),
  );
  if (context.signal.aborted) throw new BridgeError("unavailable", "given up before Google had answered");
  const results = items.map(({ ref }) => outcomes.get(ref) ?? { unavailable: "it was not asked for" });
  throwIfRefused(results, refusals);
  return results;
};

/** Nothing could be asked: the engine is to leave Google alone for a while. */
const throwIfRefused = (results: readonly InspectOutcome[], refusals: readonly BridgeError[]): void => {
  const isRefused = (outcome: InspectOutcome): boolean =>
    "unavailable" in outcome || ("error" in outcome && outcome.error.data?.action !== undefined);
  const [first] = refusals;
  if (first !== undefined && results.every(isRefused)) throw first;
};

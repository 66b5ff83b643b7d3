import { BridgeError, isEnded, withSignal } from "@taskbridge/core/adapter";
import type { Execution, GcwClient, ListCall } from "../google/client.ts";
import type { TokenBucket } from "../google/token-bucket.ts";
import { executionNameOf } from "../mapping/execution-name.ts";
import { toStatus } from "../mapping/to-snapshot.ts";
import { originLabel } from "../settings/parse-target.ts";

export interface Wanted {
  readonly name: string;
  /** Epoch milliseconds by Google's clock, where it is known: the newest come first, so that nothing older need be listed. */
  readonly startedAt?: number | undefined;
}

export interface RunningList {
  /**
   * Those of the wanted ones that run or are queued; the rest has ended, is not listed yet, was started by somebody else, or lies behind
   * what `refusal` let us read.
   */
  readonly running: ReadonlyMap<string, Execution>;
  /** The view it was read in: FULL tells steps, too. */
  readonly view: ListCall["view"];
  /** The rate of listing did not suffice. */
  readonly refusal?: BridgeError;
  /** How many executions were listed, whoever wanted them. */
  readonly listed: number;
}

export interface Sweeps {
  /** Lists a workflow's executions that go on, in calls that all who ask at about the same time share. `full`: asks for steps, too. */
  running(workflow: string, wanted: readonly Wanted[], full: boolean, signal: AbortSignal): Promise<RunningList>;
  /** How many executions the last list held; at least, where it was not read to its end. Undefined before the first. */
  lastListed(workflow: string): number | undefined;
}

/** Google gives so many at most. */
export const pageSizes = { BASIC: 1_000, FULL: 100 } as const;
/** Ours that go on: https://cloud.google.com/workflows/docs/executing-workflow#filter-executions */
export const goesOn: string = [
  ...Object.entries(originLabel).map(([key, value]) => `labels."${key}":"${value}"`),
  '(state="ACTIVE" OR state="QUEUED")',
].join(" AND ");
/** A list that takes longer (milliseconds) would be given up by those who wait. */
const maxMs = 20_000;
/** Lists are in the order of creation, and tell the time of the start, which comes a little later (milliseconds). */
const slackMs = 5_000;

export const isUnderWay = ({ state }: Execution): boolean => {
  const status = toStatus(state);
  return status !== undefined && !isEnded(status);
};

interface Sweep {
  readonly wanted: Map<string, number | undefined>;
  full: boolean;
  readonly list: Promise<RunningList>;
}

const listRunning = async (
  client: GcwClient,
  rate: TokenBucket,
  workflow: string,
  { wanted, full }: Pick<Sweep, "wanted" | "full">,
  signal: AbortSignal,
): Promise<RunningList> => {
  const until = performance.now() + maxMs;
  const oldest = Math.min(...[...wanted.values()].map((startedAt) => startedAt ?? 0)) - slackMs;
  const view = full ? "FULL" : "BASIC";
  const running = new Map<string, Execution>();
  let listed = 0;
  let token: string | undefined;
  for (;;) {
    if (!(await rate.take(until - performance.now(), signal))) {
      const message = "the project's rate of workflows.executions.list does not suffice";
      return { running, view, listed, refusal: new BridgeError("throttled", message, { retryAfterMs: 1_000 }) };
    }
    const paging = { size: pageSizes[view], ...(token === undefined ? {} : { token }) };
    const page = await client.list(workflow, { view, filter: goesOn, ...paging }, signal);
    listed += page.rows.length;
    for (const row of page.rows) {
      const name = executionNameOf(workflow, row.name);
      // Whatever the filter says, of one that has ended a list in BASIC view tells neither result nor error.
      if (name !== undefined && wanted.has(name) && isUnderWay(row)) running.set(name, row);
    }
    token = page.next;
    // One that waits in the backlog has no start yet.
    const last = page.rows.findLast(({ startedAt }) => startedAt !== undefined)?.startedAt;
    if (token === undefined || running.size === wanted.size || (last !== undefined && last < oldest))
      return { running, view, listed };
  }
};

/** `rate`: of lists. `closing`: ends what is under way. */
export const sweeps = (client: GcwClient, rate: TokenBucket, closing: AbortSignal): Sweeps => {
  const current = new Map<string, Promise<unknown>>();
  const next = new Map<string, Sweep>();
  const listed = new Map<string, number>();

  /** The list that begins once the one under way is done: what was asked after a list began is not in it for certain. */
  const plan = (workflow: string): Sweep => {
    const before = current.get(workflow) ?? Promise.resolve();
    const list = before
      .catch(() => {})
      .then(async () => {
        next.delete(workflow);
        const found = await listRunning(client, rate, workflow, sweep, closing);
        // One that begins with what the last has left of the rate comes less far.
        const minimum = found.refusal === undefined ? 0 : (listed.get(workflow) ?? 0);
        listed.set(workflow, Math.max(found.listed, minimum));
        return found;
      });
    const sweep: Sweep = { wanted: new Map(), full: false, list };
    current.set(workflow, list);
    next.set(workflow, sweep);
    return sweep;
  };

  return {
    running: (workflow, wanted, full, signal) =>
      withSignal(signal, () => {
        const sweep = next.get(workflow) ?? plan(workflow);
        sweep.full ||= full;
        for (const { name, startedAt } of wanted) sweep.wanted.set(name, startedAt);
        return sweep.list;
      }),
    lastListed: (workflow) => listed.get(workflow),
  };
};

import { BridgeError } from "@taskbridge/core/adapter";
import type { ExecutionRow, SfnClient } from "./aws/client.ts";
import type { Quotas } from "./aws/token-bucket.ts";
import { withSignal } from "./aws/with-signal.ts";

export interface Wanted {
  readonly arn: string;
  /** Epoch milliseconds by AWS' clock, where it is known: the newest come first, so that nothing older need be listed. */
  readonly startedAt?: number | undefined;
}

export interface RunningList {
  /** Those of the wanted ones that run; the rest has ended, is not listed yet, or lies further back than `refusal` let us read. */
  readonly running: ReadonlyMap<string, ExecutionRow>;
  /** The rate of listing did not suffice. */
  readonly refusal?: BridgeError;
  readonly pages: number;
}

export interface Sweeps {
  /** Lists a machine's running executions, in calls that all who ask at about the same time share. */
  running(machineArn: string, wanted: readonly Wanted[], signal: AbortSignal): Promise<RunningList>;
  /** How many pages the last list took; at least, where it was not read to its end. */
  lastPages(machineArn: string): number;
}

/** AWS gives so many at most. */
const pageSize = 1_000;
/** A list that takes longer (milliseconds) would be given up by those who wait. */
const longestMs = 20_000;
/** What a start answers and what a list tells of its time may differ (milliseconds). */
const slackMs = 5_000;

interface Sweep {
  readonly wanted: Map<string, number | undefined>;
  readonly list: Promise<RunningList>;
}

const listRunning = async (
  client: SfnClient,
  { list }: Quotas,
  machineArn: string,
  wanted: ReadonlyMap<string, number | undefined>,
  signal: AbortSignal,
): Promise<RunningList> => {
  const until = performance.now() + longestMs;
  const oldest = Math.min(...[...wanted.values()].map((startedAt) => startedAt ?? 0)) - slackMs;
  const running = new Map<string, ExecutionRow>();
  let token: string | undefined;
  for (let pages = 1; ; pages++) {
    if (!(await list.take(until - performance.now(), signal))) {
      const message = "the account's rate of states:ListExecutions does not suffice";
      return { running, pages, refusal: new BridgeError("throttled", message, { retryAfterMs: 1_000 }) };
    }
    const page = await client.listRunning(
      machineArn,
      { size: pageSize, ...(token === undefined ? {} : { token }) },
      signal,
    );
    for (const row of page.rows) if (wanted.has(row.arn)) running.set(row.arn, row);
    token = page.next;
    const last = page.rows.at(-1)?.startedAt ?? Number.POSITIVE_INFINITY;
    if (token === undefined || running.size === wanted.size || last < oldest) return { running, pages };
  }
};

/** `closing`: ends what is under way. `quotas`: of the machine's region. */
export const sweeps = (client: SfnClient, quotas: (arn: string) => Quotas, closing: AbortSignal): Sweeps => {
  const current = new Map<string, Promise<unknown>>();
  const next = new Map<string, Sweep>();
  const pages = new Map<string, number>();

  /** The list that begins once the one under way is done: what was asked after a list began is not in it for certain. */
  const plan = (machineArn: string): Sweep => {
    const wanted: Sweep["wanted"] = new Map();
    const before = current.get(machineArn) ?? Promise.resolve();
    const list = before
      .catch(() => {})
      .then(async () => {
        next.delete(machineArn);
        const found = await listRunning(client, quotas(machineArn), machineArn, wanted, closing);
        // One that begins with what the last has left of the rate comes less far.
        const least = found.refusal === undefined ? 1 : (pages.get(machineArn) ?? 1);
        pages.set(machineArn, Math.max(found.pages, least));
        return found;
      });
    current.set(machineArn, list);
    const sweep = { wanted, list };
    next.set(machineArn, sweep);
    return sweep;
  };

  return {
    running: (machineArn, wanted, signal) =>
      withSignal(signal, () => {
        const sweep = next.get(machineArn) ?? plan(machineArn);
        for (const { arn, startedAt } of wanted) sweep.wanted.set(arn, startedAt);
        return sweep.list;
      }),
    lastPages: (machineArn) => pages.get(machineArn) ?? 1,
  };
};

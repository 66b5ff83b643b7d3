import { BridgeError } from "@taskbridge/core/adapter";
import type { SfnClient } from "../aws/client.ts";
import type { Quotas } from "../aws/quotas.ts";
import { withSignal } from "../aws/with-signal.ts";

export interface Wanted {
  readonly arn: string;
  /** Epoch milliseconds by AWS' clock, where it is known: the newest come first, so that nothing older need be listed. */
  readonly startedAt?: number | undefined;
}

export interface RunningList {
  /**
   * When those of the wanted ones were started that run (epoch milliseconds); the rest has ended, is not listed yet, or lies further back
   * than `refusal` let us read.
   */
  readonly running: ReadonlyMap<string, number>;
  /** The rate of listing did not suffice. */
  readonly refusal?: BridgeError;
}

export interface Sweeps {
  /** Lists a machine's running executions, in calls that all share who ask for other ones at about the same time. */
  running(machineArn: string, wanted: readonly Wanted[], signal: AbortSignal): Promise<RunningList>;
  /** How many pages the last list took; at least, where it was not read to its end. */
  lastPages(machineArn: string): number;
}

/** AWS gives so many at most. */
const pageSize = 1_000;
/** A list that takes longer (milliseconds) would be given up by those who wait. */
const longestMs = 20_000;
/** What a start answers, what a list tells of its time, and our own clock may differ (milliseconds). */
const slackMs = 5_000;
/** A list is new for as long as it took, and for this long at least (milliseconds): nobody looks at one execution more often. */
const leastFreshMs = 2_000;
/** So many that were started after a list began may be described in place of another list. */
const fewYounger = 3;

/** A list that is read page by page, only as far as somebody wants it. */
interface Listing {
  readonly running: Map<string, number>;
  /** Epoch milliseconds by our clock. */
  beganAt: number;
  /** Both by the clock that only goes on (milliseconds). */
  firstReadAt: number;
  lastReadAt: number;
  pages: number;
  /** The start of the oldest execution on the last page. */
  reachedTo: number;
  /** Of the next page; undefined before the first and after the last. */
  token: string | undefined;
  /** Who was asked for. A second look at one wants to know more than the first has seen. */
  readonly told: Set<string>;
  /** Page after page: fails as soon as one cannot be had. */
  work: Promise<unknown>;
}

const startListing = (before: Listing | undefined): Listing => ({
  running: new Map(),
  beganAt: 0,
  firstReadAt: 0,
  lastReadAt: 0,
  pages: 0,
  reachedTo: Number.POSITIVE_INFINITY,
  token: undefined,
  told: new Set(),
  // Whoever asks until then shares it.
  work: before?.work.catch(() => {}) ?? Promise.resolve(),
});

const isUsable = (listing: Listing, wanted: readonly Wanted[]): boolean => {
  if (listing.pages === 0) return true;
  const freshMs = Math.max(leastFreshMs, listing.lastReadAt - listing.firstReadAt);
  if (performance.now() - listing.lastReadAt > freshMs) return false;
  if (wanted.some(({ arn }) => listing.told.has(arn))) return false;
  const { running, beganAt, reachedTo } = listing;
  const isYounger = ({ arn, startedAt = 0 }: Wanted): boolean =>
    startedAt > beganAt - slackMs && startedAt >= reachedTo && !running.has(arn);
  return wanted.filter(isYounger).length <= fewYounger;
};

const isFarEnough = ({ pages, token, running, reachedTo }: Listing, wanted: readonly Wanted[]): boolean => {
  if (pages === 0) return false;
  const oldest = wanted.reduce((least, { startedAt = 0 }) => Math.min(least, startedAt), Number.POSITIVE_INFINITY);
  return token === undefined || reachedTo < oldest - slackMs || wanted.every(({ arn }) => running.has(arn));
};

/** `closing`: ends what is under way. `quotas`: of the machine's region. */
export const sweeps = (client: SfnClient, quotas: (arn: string) => Quotas, closing: AbortSignal): Sweeps => {
  const listings = new Map<string, Listing>();
  const pages = new Map<string, number>();

  const readPage = async (machineArn: string, listing: Listing): Promise<void> => {
    const at = performance.now();
    if (listing.pages === 0) Object.assign(listing, { beganAt: Date.now(), firstReadAt: at });
    const { token } = listing;
    const page = { size: pageSize, token };
    const { rows, next } = await client.listRunning(machineArn, page, closing);
    for (const { arn, startedAt } of rows) listing.running.set(arn, startedAt);
    listing.lastReadAt = performance.now();
    listing.pages++;
    listing.reachedTo = rows.at(-1)?.startedAt ?? listing.reachedTo;
    listing.token = next;
  };

  const extend = async (
    machineArn: string,
    listing: Listing,
    wanted: readonly Wanted[],
    until: number,
  ): Promise<RunningList> => {
    const { list } = quotas(machineArn);
    let isRefused = false;
    while (!isRefused && !isFarEnough(listing, wanted)) {
      isRefused = !(await list.take(until - performance.now(), closing));
      if (!isRefused) await readPage(machineArn, listing);
    }
    // One that begins with what the last has left of the rate comes less far.
    pages.set(machineArn, Math.max(listing.pages, isRefused ? (pages.get(machineArn) ?? 1) : 1));
    const running = new Map<string, number>();
    for (const { arn } of wanted) {
      const startedAt = listing.running.get(arn);
      if (startedAt !== undefined) running.set(arn, startedAt);
    }
    if (!isRefused) return { running };
    const message = "the account's rate of states:ListExecutions does not suffice";
    return { running, refusal: new BridgeError("throttled", message, { retryAfterMs: 1_000 }) };
  };

  const listingFor = (machineArn: string, wanted: readonly Wanted[]): Listing => {
    const before = listings.get(machineArn);
    if (before !== undefined && isUsable(before, wanted)) return before;
    const listing = startListing(before);
    listings.set(machineArn, listing);
    return listing;
  };

  return {
    running: (machineArn, wanted, signal) =>
      withSignal(signal, () => {
        const listing = listingFor(machineArn, wanted);
        for (const { arn } of wanted) listing.told.add(arn);
        const until = performance.now() + longestMs;
        const told = listing.work.then(() => extend(machineArn, listing, wanted, until));
        listing.work = told;
        told.catch(() => {
          if (listings.get(machineArn) === listing) listings.delete(machineArn);
        });
        return told;
      }),
    lastPages: (machineArn) => pages.get(machineArn) ?? 1,
  };
};

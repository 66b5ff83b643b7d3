import { BridgeError, type CallContext, withSignal } from "@taskbridge/core/adapter";
import type { SfnClient } from "../aws/client.ts";
import type { Quotas } from "../aws/quotas.ts";
import { addPage, isFarEnough, isUsable, type Listing, runningOf, startListing, type Wanted } from "./listing.ts";

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
  running(machineArn: string, wanted: readonly Wanted[], context: CallContext): Promise<RunningList>;
  /** How many pages the last list took; at least, where it was not read to its end. */
  lastPages(machineArn: string): number;
}

/** AWS gives so many at most. */
const pageSize = 1_000;
/** A list that takes longer (milliseconds) would be given up by those who wait. */
const maxMs = 20_000;

const tooSlow = "the account's rate of states:ListExecutions does not suffice";

/** `closing`: ends what is under way. `monotonic`: milliseconds. */
export const sweeps = (
  client: SfnClient,
  quotas: (arn: string) => Quotas,
  closing: AbortSignal,
  monotonic = (): number => performance.now(),
): Sweeps => {
  const listings = new Map<string, Listing>();
  const pages = new Map<string, number>();

  const readPage = async (machineArn: string, listing: Listing, now: number, since: number): Promise<void> => {
    if (listing.pages === 0) Object.assign(listing, { beganAt: now, firstReadAt: since });
    const page = await client.listRunning(machineArn, { size: pageSize, token: listing.token }, closing);
    addPage(listing, page, monotonic() - since);
  };

  const extend = async (
    machineArn: string,
    listing: Listing,
    wanted: readonly Wanted[],
    now: CallContext["now"],
    until: number,
  ): Promise<RunningList> => {
    const { list } = quotas(machineArn);
    let isRefused = false;
    let since: number | undefined;
    while (!isRefused && !isFarEnough(listing, wanted)) {
      isRefused = !(await list.take(until - monotonic(), closing));
      since ??= monotonic();
      if (!isRefused) await readPage(machineArn, listing, now(), since);
      since = monotonic();
    }
    // One that begins with what the last has left of the rate comes less far.
    pages.set(machineArn, Math.max(listing.pages, isRefused ? (pages.get(machineArn) ?? 1) : 1));
    const running = runningOf(listing, wanted);
    return isRefused
      ? { running, refusal: new BridgeError("throttled", tooSlow, { retryAfterMs: 1_000 }) }
      : { running };
  };

  const listingFor = (machineArn: string, wanted: readonly Wanted[]): Listing => {
    const before = listings.get(machineArn);
    if (before !== undefined && isUsable(before, wanted, monotonic())) return before;
    const listing = startListing(before);
    listings.set(machineArn, listing);
    return listing;
  };

  return {
    running: (machineArn, wanted, { signal, now }) =>
      withSignal(signal, () => {
        const listing = listingFor(machineArn, wanted);
        for (const { arn } of wanted) listing.reported.add(arn);
        const until = monotonic() + maxMs;
        const extended = listing.work.then(() => extend(machineArn, listing, wanted, now, until));
        listing.work = extended;
        extended.catch(() => {
          if (listings.get(machineArn) === listing) listings.delete(machineArn);
        });
        return extended;
      }),
    lastPages: (machineArn) => pages.get(machineArn) ?? 1,
  };
};

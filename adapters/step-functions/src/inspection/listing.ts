import type { ExecutionDetails, Page } from "../aws/client.ts";

/** What a start answers, what a list tells of its time, and our own clock may differ (milliseconds). */
const slackMs = 5_000;
/** A list is new for as long as it took, and for this long at least (milliseconds): nobody looks at one execution more often. */
const minFreshMs = 2_000;
/** So many that were started after a list began may be described in place of another list. */
const fewYounger = 3;

type RunningPage = Page<Pick<ExecutionDetails, "arn" | "startedAt">>;

export interface Wanted {
  readonly arn: string;
  /** Epoch milliseconds by AWS' clock, where it is known: the newest come first, so that nothing older need be listed. */
  readonly startedAt?: number | undefined;
}

/** A list of a machine's running executions that is read page by page, only as far as somebody wants it. */
export interface Listing {
  readonly running: Map<string, number>;
  /** Epoch milliseconds by our clock. */
  beganAt: number;
  /** By the clock that only goes on (milliseconds). */
  firstReadAt: number;
  /** How long its pages took, without what passed before somebody wanted the next (milliseconds). */
  readMs: number;
  pages: number;
  /** The start of the oldest execution on the last page. */
  reachedTo: number;
  /** Of the next page; undefined before the first and after the last. */
  token: string | undefined;
  /** Who was asked for. A second look at one wants to know more than the first has seen. */
  readonly reported: Set<string>;
  /** Page after page: fails as soon as one cannot be had. */
  work: Promise<unknown>;
}

export const startListing = (before: Listing | undefined): Listing => ({
  running: new Map(),
  beganAt: 0,
  firstReadAt: 0,
  readMs: 0,
  pages: 0,
  reachedTo: Number.POSITIVE_INFINITY,
  token: undefined,
  reported: new Set(),
  // Whoever asks until then shares it.
  work: before?.work.catch(() => {}) ?? Promise.resolve(),
});

/** `durationMs`: since the last page, or since this one was wanted. */
export const addPage = (listing: Listing, { rows, next }: RunningPage, durationMs: number): void => {
  for (const { arn, startedAt } of rows) listing.running.set(arn, startedAt);
  listing.readMs += durationMs;
  listing.pages++;
  listing.reachedTo = rows.at(-1)?.startedAt ?? listing.reachedTo;
  listing.token = next;
};

/** When those of them were started that run. */
export const runningOf = ({ running }: Listing, wanted: readonly Wanted[]): ReadonlyMap<string, number> =>
  new Map(
    wanted.flatMap(({ arn }) => {
      const startedAt = running.get(arn);
      return startedAt === undefined ? [] : [[arn, startedAt] as const];
    }),
  );

/** Whether it tells what is so of these at `now`, by the clock that only goes on. */
export const isUsable = (listing: Listing, wanted: readonly Wanted[], now: number): boolean => {
  if (listing.pages === 0) return true;
  // What the first page tells is as old as that, whenever others were added.
  const { firstReadAt, readMs } = listing;
  if (now - firstReadAt > readMs + Math.max(minFreshMs, readMs)) return false;
  if (wanted.some(({ arn }) => listing.reported.has(arn))) return false;
  const { running, beganAt, reachedTo } = listing;
  const isYounger = ({ arn, startedAt = 0 }: Wanted): boolean =>
    startedAt > beganAt - slackMs && startedAt >= reachedTo && !running.has(arn);
  return wanted.filter(isYounger).length <= fewYounger;
};

/** Whether what comes further back would tell no more of these. */
export const isFarEnough = ({ pages, token, running, reachedTo }: Listing, wanted: readonly Wanted[]): boolean => {
  if (pages === 0) return false;
  const oldest = wanted.reduce((minimum, { startedAt = 0 }) => Math.min(minimum, startedAt), Number.POSITIVE_INFINITY);
  return token === undefined || reachedTo < oldest - slackMs || wanted.every(({ arn }) => running.has(arn));
};

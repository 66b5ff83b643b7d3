import { setTimeout as sleep } from "node:timers/promises";

/** Calls that one of AWS' rates allows: `burst` at once, and `perSecond` again. */
export interface TokenBucket {
  /** How many may be taken at once. */
  left(): number;
  /** Takes one if more than `reserve` are left. */
  tryTake(reserve?: number): boolean;
  /** Takes one, in turn, once there is one. False, with nothing taken, when that would be later than `withinMs`. */
  take(withinMs: number, signal: AbortSignal): Promise<boolean>;
}

/** AWS counts real time, whatever the engine's clock says. `now`: milliseconds. */
export const tokenBucket = (burst: number, perSecond: number, now = (): number => performance.now()): TokenBucket => {
  let level = burst;
  let since = now();
  const refill = (): void => {
    const at = now();
    level = Math.min(burst, level + ((at - since) / 1_000) * perSecond);
    since = at;
  };
  return {
    left: () => {
      refill();
      return Math.max(0, Math.floor(level));
    },
    tryTake: (reserve = 0) => {
      refill();
      if (level < 1 + reserve) return false;
      level -= 1;
      return true;
    },
    take: async (withinMs, signal) => {
      refill();
      const waitMs = Math.max(0, ((1 - level) / perSecond) * 1_000);
      if (waitMs > withinMs) return false;
      level -= 1;
      if (waitMs > 0) await sleep(waitMs, undefined, { signal });
      return true;
    },
  };
};

/** Published rates, for each account and region: [burst, a second]. */
const large = { describe: [300, 15], list: [200, 5], history: [400, 20] } as const;
const small = { describe: [250, 10], list: [100, 2], history: [400, 20] } as const;
const largeRegions: ReadonlySet<string> = new Set(["us-east-1", "us-west-2", "eu-west-1"]);

export interface Quotas {
  readonly describe: TokenBucket;
  readonly list: TokenBucket;
  readonly history: TokenBucket;
  readonly historyPerSecond: number;
  /** So many of `history` are kept for ends, which are told before questions. */
  readonly historyReserve: number;
  /** So many of `describe` are kept for ends, and not for what a list tells as well. */
  readonly describeReserve: number;
}

export const quotasOf = (region: string, share: number): Quotas => {
  const rates = largeRegions.has(region) ? large : small;
  const bucket = ([burst, perSecond]: readonly [number, number]): TokenBucket =>
    tokenBucket(Math.max(1, burst * share), perSecond * share);
  const [historyBurst, historyRate] = rates.history;
  const [describeBurst] = rates.describe;
  return {
    describe: bucket(rates.describe),
    list: bucket(rates.list),
    history: bucket(rates.history),
    historyPerSecond: historyRate * share,
    historyReserve: historyBurst * share * 0.75,
    describeReserve: (describeBurst * share) / 2,
  };
};

/** The rates of the region that an ARN is in, which all of its machines share. `share`: part of them that may be used. */
export const regionalQuotas = (share: number): ((arn: string) => Quotas) => {
  const byRegion = new Map<string, Quotas>();
  return (arn) => {
    const region = arn.split(":")[3] ?? "";
    const rates = byRegion.get(region) ?? quotasOf(region, share);
    byRegion.set(region, rates);
    return rates;
  };
};

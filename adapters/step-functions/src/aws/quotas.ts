import { type TokenBucket, tokenBucket } from "./token-bucket.ts";

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

/** `now`: milliseconds. */
export const quotasOf = (region: string, share: number, now?: () => number): Quotas => {
  const rates = largeRegions.has(region) ? large : small;
  const bucket = ([burst, perSecond]: readonly [number, number]): TokenBucket =>
    tokenBucket(Math.max(1, burst * share), perSecond * share, now);
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

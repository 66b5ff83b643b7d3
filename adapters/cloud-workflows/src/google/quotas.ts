import { type TokenBucket, tokenBucket } from "./token-bucket.ts";

/** Calls a minute for each project and location: https://cloud.google.com/workflows/quotas */
const perMinute = { get: 6_000, list: 1_200 } as const;
/** A bucket holds so many seconds' worth, so that any minute has its share at most, the one that begins with a full bucket too. */
const burstSeconds = 10;

export interface Quotas {
  readonly get: TokenBucket;
  readonly list: TokenBucket;
  /** No rate is published for lists of callbacks and of steps: taken to be as that of lists of executions. */
  readonly detail: TokenBucket;
  /** So many of `get` are kept for ends, which are told before the steps of what runs. */
  readonly getReserve: number;
}

/** The rates of one project and location. `share`: the part of what is published that this server may use (0–1). */
export const quotasOf = (share: number): Quotas => {
  const bucket = (calls: number): TokenBucket => {
    const perSecond = (calls * share) / (60 + burstSeconds);
    return tokenBucket(Math.max(1, perSecond * burstSeconds), perSecond);
  };
  return {
    get: bucket(perMinute.get),
    list: bucket(perMinute.list),
    detail: bucket(perMinute.list),
    getReserve: ((perMinute.get * share) / (60 + burstSeconds)) * (burstSeconds / 2),
  };
};

import type { Clock } from "./clock.ts";

/** What an account may ask of one action. */
export interface Quota {
  /** Requests at once. */
  readonly bucket: number;
  readonly perSecond: number;
}

export type Quotas = Readonly<Record<string, Quota>>;

const rows = (table: Readonly<Record<string, readonly [bucket: number, perSecond: number]>>): Quotas =>
  Object.fromEntries(Object.entries(table).map(([action, [bucket, perSecond]]) => [action, { bucket, perSecond }]));

const everywhere = {
  DescribeStateMachine: [200, 20],
  GetExecutionHistory: [400, 20],
  ListStateMachines: [100, 5],
  ListTagsForResource: [100, 1],
} as const;

/**
 * Published for us-east-1, us-west-2 and eu-west-1; of Standard, since Express starts are hardly limited. An action that
 * is not in the table has no published quota of its own.
 * https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
 */
export const largeRegionQuotas: Quotas = rows({
  ...everywhere,
  StartExecution: [1_300, 300],
  DescribeExecution: [300, 15],
  ListExecutions: [200, 5],
  StopExecution: [1_000, 200],
  SendTaskSuccess: [3_000, 500],
  SendTaskFailure: [3_000, 500],
  SendTaskHeartbeat: [3_000, 500],
});

/** Published for all other regions. */
export const otherRegionQuotas: Quotas = rows({
  ...everywhere,
  StartExecution: [800, 150],
  DescribeExecution: [250, 10],
  ListExecutions: [100, 2],
  StopExecution: [500, 25],
  SendTaskSuccess: [1_500, 300],
  SendTaskFailure: [1_500, 300],
  SendTaskHeartbeat: [1_500, 300],
});

/** One bucket of tokens for each action of the table. */
export interface Meter {
  /** Whether a request may pass; it then has used up a token. */
  take(action: string): boolean;
  /** Tokens left. Infinity for an action without a quota. */
  left(action: string): number;
}

export const createMeter = (quotas: Quotas, clock: Clock): Meter => {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const refill = (action: string): { tokens: number; at: number } | undefined => {
    const quota = quotas[action];
    if (quota === undefined) return undefined;
    const now = clock.now();
    const bucket = buckets.get(action) ?? { tokens: quota.bucket, at: now };
    bucket.tokens = Math.min(quota.bucket, bucket.tokens + ((now - bucket.at) / 1_000) * quota.perSecond);
    bucket.at = now;
    buckets.set(action, bucket);
    return bucket;
  };
  return {
    left: (action) => refill(action)?.tokens ?? Number.POSITIVE_INFINITY,
    take: (action) => {
      const bucket = refill(action);
      if (bucket === undefined) return true;
      if (bucket.tokens < 1) return false;
      bucket.tokens -= 1;
      return true;
    },
  };
};

import type { Clock } from "./clock.ts";
import type { MethodName } from "./routes.ts";

/** Requests per minute, of a project in a location. */
export interface Quotas {
  /** Name of the metric to its limit. */
  readonly [metric: string]: number;
}

/**
 * https://cloud.google.com/workflows/quotas: "per minute per location", "from all workflows in your project".
 * "Write" are create and cancel together. The figure for callbacks is assumed.
 */
export const googleQuotas: Quotas = {
  "Execution API get requests": 6_000,
  "Execution API list requests": 1_200,
  "Execution API write requests": 6_000,
  "HTTP requests to callback endpoints": 6_000,
  "Workflow API requests": 1_200,
};

/** That the lists of callbacks and of step entries have no quota of their own, and so none here, is assumed. */
const metrics: Partial<Record<MethodName, string>> = {
  getExecution: "Execution API get requests",
  listExecutions: "Execution API list requests",
  createExecution: "Execution API write requests",
  cancelExecution: "Execution API write requests",
  sendHttpCallback: "HTTP requests to callback endpoints",
  getWorkflow: "Workflow API requests",
  listWorkflows: "Workflow API requests",
};

/** Buckets of tokens, by project and location. */
export interface Meter {
  /** What a request goes beyond; undefined when it may pass, which uses up a token. */
  take(method: MethodName, location: string): { readonly metric: string; readonly limit: number } | undefined;
  /** Tokens left. Infinity for a method without a quota. */
  left(method: MethodName, location: string): number;
}

/** A bucket holds a minute's requests and is filled by the second (assumed: Google tells the rate and not how it counts). */
export const createMeter = (quotas: Quotas, clock: Clock): Meter => {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const refill = (method: MethodName, location: string) => {
    const metric = metrics[method];
    const limit = metric === undefined ? undefined : quotas[metric];
    if (metric === undefined || limit === undefined) return undefined;
    const now = clock.now();
    const key = `${location} ${metric}`;
    const bucket = buckets.get(key) ?? { tokens: limit, at: now };
    bucket.tokens = Math.min(limit, bucket.tokens + ((now - bucket.at) / 60_000) * limit);
    bucket.at = now;
    buckets.set(key, bucket);
    return { bucket, metric, limit };
  };
  return {
    left: (method, location) => refill(method, location)?.bucket.tokens ?? Number.POSITIVE_INFINITY,
    take: (method, location) => {
      const found = refill(method, location);
      if (found === undefined) return undefined;
      if (found.bucket.tokens < 1) return { metric: found.metric, limit: found.limit };
      found.bucket.tokens -= 1;
      return undefined;
    },
  };
};

import { BridgeError, type CreateStore, isBridgeError, refuseOtherMembers } from "@taskbridge/core/store";
import type { RedisStoreOptions } from "./parse-options.ts";
import { redisStore } from "./redis-store.ts";

const known = [
  "nodes",
  "sentinels",
  "prefix",
  "operationTimeoutMs",
  "waitReplicas",
] satisfies (keyof RedisStoreOptions)[];

/**
 * Opens `redis://…` or `rediss://…`. `options` may hold `nodes`, `sentinels`, `prefix`, `operationTimeoutMs` and `waitReplicas`. Rejects with
 * `misconfigured` for any other text or option.
 */
export const createStore: CreateStore = async (url, { options = {} }) => {
  refuseOtherMembers(options, known, "", "unknown option of a Redis store");
  try {
    return await redisStore({ ...(options as RedisStoreOptions), url });
  } catch (error) {
    // The text as a whole is at fault then, not an option.
    if (isBridgeError(error) && error.data?.["path"] === "url") throw new BridgeError(error.code, error.message);
    throw error;
  }
};

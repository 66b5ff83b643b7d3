import { BridgeError, type CreateStore } from "@taskbridge/core/store";
import type { RedisStoreOptions } from "./parse-options.ts";
import { redisStore } from "./redis-store.ts";

/** What may stand beside `url` in a configuration. */
const known: readonly (keyof RedisStoreOptions)[] = ["nodes", "prefix", "operationTimeoutMs", "waitReplicas"];

/** Opens `redis://HOST` or `rediss://HOST`. Rejects with `misconfigured` for any other text, and for an option it does not know. */
export const createStore: CreateStore = async (url, { options = {} }) => {
  for (const name of Object.keys(options)) {
    if (!known.some((option) => option === name))
      throw new BridgeError("misconfigured", `${name}: unknown option`, { data: { path: name } });
  }
  try {
    // They are looked at once more, one by one, for what they are.
    return await redisStore({ ...(options as RedisStoreOptions), url });
  } catch (error) {
    // The text as a whole is at fault then, not an option.
    if (error instanceof BridgeError && error.data?.["path"] === "url")
      throw new BridgeError(error.code, error.message);
    throw error;
  }
};

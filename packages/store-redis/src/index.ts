export { createStore } from "./create-store.ts";
export type { RedisStoreOptions, WaitReplicas } from "./parse-options.ts";
export { redisStore } from "./redis-store.ts";

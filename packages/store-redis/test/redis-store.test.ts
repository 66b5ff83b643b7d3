import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, it } from "@jest/globals";
import { testStore } from "@taskbridge/testkit/store";
import { redisStore } from "../src/index.ts";
import { connect, describeRedis, endRemovals, newPrefix, removeKeys, sharedUrl } from "./redis-bench.ts";

describeRedis("redisStore", () => {
  let prefix = "";

  afterEach(async () => removeKeys(connect(await sharedUrl()), prefix));

  testStore({
    name: "redisStore",
    open: async () => {
      prefix = newPrefix();
      return redisStore({ url: await sharedUrl(), prefix });
    },
    reopen: async () => redisStore({ url: await sharedUrl(), prefix }),
    elapseRemovals: async () => endRemovals([connect(await sharedUrl())], prefix),
    // A little more: the host's timers and the server's clock do not agree to the millisecond.
    elapse: async (ms) => void (await sleep(ms + 20)),
    runner: { describe, it, beforeEach, afterEach },
  });
});

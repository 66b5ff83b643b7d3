import { performance } from "node:perf_hooks";
import { expect, it } from "@jest/globals";
import { createClientPort } from "../../src/redis/client-port.ts";
import { type Command, script } from "../../src/redis/redis-port.ts";
import { connect, describeRedis, newPrefix, sharedUrl } from "../redis-bench.ts";

describeRedis("stages that go to one server in one go", () => {
  it("are carried out in their order, whichever scripts it knows", async () => {
    const redis = connect(await sharedUrl());
    await redis.ping();
    const port = createClientPort(redis, 5000);
    const key = `${newPrefix()}stages`;
    const append = script(`return redis.call("APPEND", KEYS[1], ARGV[1])`);
    const last = script(`return redis.call("APPEND", KEYS[1], ARGV[1] .. "!")`);
    await redis.call("SCRIPT", "LOAD", last.lua);
    const stages: readonly Command[][] = [
      [{ script: append, keys: [key], args: ["a"] }],
      [],
      [{ forEach: append, locations: [{ keys: [key], args: [] }], first: ["b"] }],
      [{ call: ["append", key, "c"] }],
      [{ script: last, keys: [key], args: ["d"] }],
    ];
    const call = { operation: "test", isDurable: false, endsAt: performance.now() + 5000 };
    expect(await port.send(call, ...stages)).toEqual([1, 2, 3, 5]);
    expect(await redis.get(key)).toBe("abcd!");
    await redis.del(key);
  });
});

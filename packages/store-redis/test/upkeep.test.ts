import { expect, it } from "@jest/globals";
import { createSample } from "@taskbridge/testkit/store";
import { connect, describeRedis, endRemovals, newPrefix, openStore, sharedUrl, until } from "./redis-bench.ts";

describeRedis("what has lapsed or was removed", () => {
  it("leaves nothing behind, whether or not anybody creates again (case 10)", async () => {
    const [url, prefix] = [await sharedUrl(), newPrefix()];
    const store = await openStore({ url, prefix });
    const lapsesAt = store.now() + 300;
    const records = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        createSample(
          store,
          { wakeAt: 5 },
          {
            uniqueKeys: [
              { key: `until-${index}`, until: lapsesAt },
              { key: `held-${index}`, heldForMs: 300 },
              { key: `plain-${index}` },
            ],
            maxOpenForOwner: 100,
            payloads: [{ name: "secret:q", bytes: new Uint8Array(9) }],
          },
        ),
      ),
    );
    const redis = connect(url);
    // At least those that do not lapse while their record is there.
    expect((await redis.keys(`${prefix}*unique:*`)).length).toBeGreaterThanOrEqual(80);
    await store.due(10, 300);
    await Promise.all(records.map(({ taskId }) => store.remove(taskId)));
    const removedAt = store.now();
    expect((await redis.keys(`${prefix}*removed`)).length).toBeGreaterThan(0);
    await endRemovals([redis], prefix);
    await until("all has lapsed", () => (store.now() > Math.max(lapsesAt, removedAt + 300) ? true : undefined));
    // A process that has just begun looks at all shards.
    const observer = await openStore({ url, prefix });
    expect(await observer.due(10)).toEqual([]);
    expect(await observer.nextWakeAt()).toBeNull();
    expect(await redis.keys(`${prefix}*`)).toEqual([`${prefix}{meta}schema`]);
  });
});

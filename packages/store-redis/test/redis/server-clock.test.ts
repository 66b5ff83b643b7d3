import { expect, it } from "@jest/globals";
import { createSample } from "@taskbridge/testkit/store";
import { connect, describeRedis, newPrefix, openStore, rejectionOf, sharedUrl } from "../redis-bench.ts";

describeRedis("time", () => {
  it("is the server's, wherever the clock of this process begins", async () => {
    const [url, prefix] = [await sharedUrl(), newPrefix()];
    const stores = await Promise.all(
      [-3_600_000, 0, 1e12].map((offset) =>
        openStore({ url, prefix, clock: { now: () => performance.now() + offset } }),
      ),
    );
    const [seconds = 0, micros = 0] = await connect(url).time();
    const atServer = Number(seconds) * 1000 + Number(micros) / 1000;
    for (const store of stores) expect(Math.abs(store.now() - atServer)).toBeLessThan(250);
    const [ahead, , behind] = stores;
    const until = Number(ahead?.now()) + 500;
    const { taskId } = await createSample(ahead as (typeof stores)[number], {}, { uniqueKeys: [{ key: "k", until }] });
    const conflict = await rejectionOf(
      createSample(behind as (typeof stores)[number], {}, { uniqueKeys: [{ key: "k" }] }),
    );
    expect(conflict.data).toEqual({ taskId });
  });

  it("is asked for anew when what this process believes is off, so that its creates go on", async () => {
    for (const leapMs of [-600_000, 600_000]) {
      let offset = 0;
      const clock = { now: () => performance.now() + offset };
      const store = await openStore({ url: await sharedUrl(), prefix: newPrefix(), clock, operationTimeoutMs: 2000 });
      const before = store.now();
      // As after the machine was asleep, during which a monotonic clock may stand still.
      offset = leapMs;
      const created = await createSample(store, {}, { uniqueKeys: [{ key: "k" }], maxOpenForOwner: 1 });
      expect(await store.read(created.taskId)).toEqual(created);
      if (leapMs < 0) expect(store.now() - before).toBeLessThan(5000);
      await store.close();
    }
  });
});

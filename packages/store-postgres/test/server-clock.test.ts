import { afterEach, expect, it } from "@jest/globals";
import { removedIdReservedMs, type TaskStore } from "@taskbridge/core/store";
import { createSample } from "@taskbridge/testkit/store";
import { postgresStore } from "../src/postgres-store.ts";
import { startServerClock } from "../src/server-clock.ts";
import { describeWithPostgres, useDatabase } from "./database.ts";
import { until } from "./until.ts";

const minutes = 60_000;

describeWithPostgres("clocks of replicas that are minutes apart", () => {
  const { url, run, newSchema } = useDatabase();
  const schema = newSchema();
  const stores: TaskStore[] = [];
  const openAt = async (skewMs: number): Promise<TaskStore> => {
    const store = await postgresStore({ url: url(), schema, clock: { now: () => Date.now() + skewMs } });
    stores.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });

  it("tell the server's time all the same", async () => {
    for (const store of [await openAt(-7 * minutes), await openAt(13 * minutes)]) {
      const before = store.now();
      const [row] = await run<{ readonly now: number }>(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now",
      );
      const after = store.now();
      expect(row?.now).toBeGreaterThan(before - 100);
      expect(row?.now).toBeLessThan(after + 100);
    }
  });

  it("agree on what is due, on who has a lease and on when a key is free", async () => {
    const [slow, fast] = [await openAt(-7 * minutes), await openAt(13 * minutes)];
    const soon = await createSample(slow, { wakeAt: slow.now() + minutes });
    const due = await createSample(fast, { wakeAt: fast.now() - 1000 });
    for (const store of [slow, fast]) expect((await store.due(10)).map(({ taskId }) => taskId)).toEqual([due.taskId]);
    expect((await fast.due(10, minutes)).map(({ taskId }) => taskId)).toEqual([due.taskId]);
    expect(await slow.due(10, minutes)).toEqual([]);
    expect(await slow.nextWakeAt()).toBe(due.wakeAt);
    const lease = await slow.lease("sweep", minutes);
    expect(await fast.lease("sweep", minutes)).toBeUndefined();
    expect(await lease?.renew()).toBe(true);
    const uniqueKeys = [{ key: "minted", until: slow.now() + minutes }];
    await createSample(slow, {}, { uniqueKeys });
    await expect(createSample(fast, {}, { uniqueKeys })).rejects.toMatchObject({ code: "conflict" });
    expect(soon.revision).toBe(1);
  });

  it("that have jumped let no create through that seems late, until they are compared, at once", async () => {
    let jumpMs = 0;
    const store = await postgresStore({ url: url(), schema, clock: { now: () => Date.now() + jumpMs } });
    stores.push(store);
    jumpMs = -minutes;
    await expect(createSample(store)).rejects.toMatchObject({ code: "unavailable" });
    await until("it keeps time again", () => Math.abs(store.now() - Date.now()) < minutes / 2);
    expect((await createSample(store)).revision).toBe(1);
  });

  it("do not keep a create under way for as long as a removed ID stays taken, however patient its caller is", async () => {
    let jumpMs = 0;
    const clock = { now: () => Date.now() + jumpMs };
    const store = await postgresStore({ url: url(), schema, operationTimeoutMs: 60 * minutes, clock });
    stores.push(store);
    expect((await createSample(store)).revision).toBe(1);
    // As one that comes so late.
    jumpMs = -removedIdReservedMs;
    await expect(createSample(store)).rejects.toMatchObject({ code: "unavailable" });
  });

  it("are looked at through a way that is slow one time and quick the next, and no better answer is forgotten", async () => {
    // The server's clock is 1,000,000 ahead; each answer was read half way.
    let local = 0;
    const trips = [400, 10, 900];
    const compare: (() => Promise<void>)[] = [];
    const connection = {
      location: "",
      query: async () => {
        const trip = trips.shift() ?? 0;
        local += trip / 4;
        const now = local + 1_000_000;
        local += (3 * trip) / 4;
        return [{ now }];
      },
      close: async () => undefined,
    };
    const clock = await startServerClock(
      connection as never,
      () => local,
      () => undefined,
      (tick) => {
        compare.push(tick);
        return () => undefined;
      },
    );
    const errorOf = () => clock.now() - local - 1_000_000;
    // Of the first 400 the way back took more than its half, so that we are late by 100; the second is exact to 5.
    expect(Math.abs(errorOf())).toBeLessThanOrEqual(5);
    await compare[0]?.();
    expect(Math.abs(errorOf())).toBeLessThanOrEqual(5);
    clock.stop();
  });
});

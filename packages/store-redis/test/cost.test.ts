import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { asExecutionRef, type TaskStore } from "@taskbridge/core/store";
import { createSample } from "@taskbridge/testkit/store";
import { type DyingStores, openDyingStores } from "./dying-store.ts";
import { describeRedis, newPrefix, sharedUrl } from "./redis-bench.ts";

// The table of what each verb costs in packages/docs/store-redis.md.
describeRedis("round trips to one server, and the commands in each", () => {
  let stores: DyingStores;
  beforeAll(async () => {
    stores = await openDyingStores(await sharedUrl(), newPrefix(), 5000);
  });
  afterAll(() => stores.close());

  const cost = async (work: (store: TaskStore) => Promise<unknown>): Promise<number[]> => {
    const { store, trips } = stores.counting();
    // What each process does every 20 s is not counted.
    await store.nextWakeAt();
    trips.length = 0;
    await work(store);
    return trips;
  };

  it("are two for a create that keys and limits are asked for, else one", async () => {
    const limits = { maxOpenForOwner: 10_000, maxOpenForTool: 10_000 };
    expect(await cost((store) => createSample(store, { wakeAt: 5e12 }))).toEqual([6]);
    expect(await cost((store) => createSample(store, { wakeAt: 5e12 }, limits))).toEqual([3, 6]);
    const keyed = { ...limits, uniqueKeys: [{ key: "k" }] };
    expect(await cost((store) => createSample(store, { wakeAt: 5e12 }, keyed))).toEqual([4, 6]);
  });

  it("are one count of a full tool for all who are refused at once", async () => {
    const limits = { maxOpenForTool: 20 };
    const tool = "full";
    for (let index = 0; index < 20; index++) await createSample(stores.fresh(), { tool }, limits);
    const refused = async (store: TaskStore): Promise<void> => {
      const attempts = Array.from({ length: 30 }, () => createSample(store, { tool }, limits));
      const outcomes = await Promise.allSettled(attempts);
      for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: "limit_exceeded" } });
    };
    const trips = await cost(refused);
    const commands = trips.reduce((sum, count) => sum + count, 0);
    // Each takes, undoes and names the caller's own twenty, some thirty commands; the headers of all are read once and not by each.
    expect(commands).toBeLessThan(30 * 40);
  });

  it("are one for a read, a revision, a payload, a cursor, a lease", async () => {
    const created = await createSample(stores.fresh(), { wakeAt: 5e12 });
    const { taskId } = created;
    expect(await cost((store) => store.read(taskId))).toEqual([1]);
    expect(await cost((store) => store.revise({ ...created, message: "more" }, 1))).toEqual([2]);
    expect(await cost((store) => store.putPayload(taskId, "output", 0, new Uint8Array(9)))).toEqual([1]);
    expect(await cost((store) => store.readPayload(taskId, "output", { offset: 0, length: 9 }))).toEqual([1]);
    expect(await cost((store) => store.values.write("video", "1", undefined))).toEqual([1]);
    expect(await cost((store) => store.lease("sweep", 10))).toEqual([1]);
  });

  it("are two for a revision that leaves an index, and three for one that enters one", async () => {
    const created = await createSample(stores.fresh(), { wakeAt: 5e12 });
    const ref = asExecutionRef("cost");
    expect(await cost((store) => store.revise({ ...created, ref }, 1))).toEqual([2, 3, 1]);
    expect(await cost((store) => store.revise({ ...created, ref, slotHeld: false }, 2))).toEqual([2, 2]);
  });

  it("are two for a removal, and four for one with unique keys", async () => {
    const plain = await createSample(stores.fresh());
    expect(await cost((store) => store.remove(plain.taskId))).toEqual([1, 4]);
    const keyed = await createSample(stores.fresh(), {}, { uniqueKeys: [{ key: "r" }] });
    expect(await cost((store) => store.remove(keyed.taskId))).toEqual([1, 1, 1, 5]);
  });

  it("are two for finding and listing, and one or two for looking whether anything is due", async () => {
    const created = await createSample(stores.fresh());
    const by = { key: created.startKey };
    expect(await cost((store) => store.findByExecution(created.adapterId, by))).toEqual([1, 1]);
    expect(await cost((store) => store.list({ owner: created.owner }, {}, undefined, 2))).toEqual([1, 1]);
    expect(await cost((store) => store.list({ operator: true }, {}, undefined, 2))).toEqual([1, 1]);
    expect(await cost((store) => store.due(10, 1000))).toEqual([1]);
    expect((await cost((store) => store.nextWakeAt())).length).toBe(2);
  });

  it("are three for taking what is due", async () => {
    await createSample(stores.fresh(), { wakeAt: 5 });
    expect(await cost((store) => store.due(10, 1000))).toEqual([1, 1, 1]);
  });
});

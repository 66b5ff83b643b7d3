import { expect, it } from "@jest/globals";
import { createSample, sampleRecord } from "@taskbridge/testkit/store";
import { connect, describeRedis, openStore, rejectionOf, startOwn, until } from "./redis-bench.ts";

describeRedis(
  "replicas that are waited for",
  () => {
    it("have what is durable before it resolves; without them it is `unavailable`, and on the master all the same", async () => {
      const master = await startOwn({ flags: ["--repl-diskless-sync-delay", "0"] });
      const replica = await startOwn({ flags: ["--replicaof", master.host, String(master.port)] });
      await until("the replica follows", async () =>
        (await connect(replica.url).info("replication")).includes("master_link_status:up") ? true : undefined,
      );
      const store = await openStore({ url: master.url, waitReplicas: { count: 1, timeoutMs: 1500 } });
      const uniqueKeys = [{ key: "k", heldForMs: 60_000 }];
      const created = await createSample(store, {}, { uniqueKeys, maxOpenForOwner: 9 });
      const kept = await connect(replica.url).keys(`*task:${created.taskId}`);
      expect(kept).toHaveLength(1);

      replica.pause();
      const record = sampleRecord();
      const error = await rejectionOf(createSample(store, record));
      expect([error.code, error.message]).toEqual(["unavailable", expect.stringContaining("only 0 of 1 replicas")]);
      expect(await store.read(record.taskId)).toEqual({ ...record, revision: 1 });
      expect(await store.values.write("cursor", "1", undefined, { durable: false })).toBe(true);
      expect((await rejectionOf(store.values.write("key", "1", undefined))).code).toBe("unavailable");
      await expect(store.probe?.()).rejects.toMatchObject({ code: "unavailable" });
      const light = await store.revise(created, 1, { durable: false });
      expect((await rejectionOf(store.revise(light, 2))).code).toBe("unavailable");
      expect(await store.read(created.taskId)).toMatchObject({ revision: 3 });
      replica.resume();
      await until("the replica is back", () =>
        store.remove(created.taskId).then(
          () => true,
          () => undefined,
        ),
      );
      expect(await rejectionOf(createSample(store, record))).toMatchObject({ data: { taskId: record.taskId } });
      await until("the removal has reached it", async () =>
        (await connect(replica.url).exists(kept[0] ?? "")) === 0 ? true : undefined,
      );
    });
  },
  true,
);

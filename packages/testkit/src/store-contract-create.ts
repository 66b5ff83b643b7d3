import assert from "node:assert/strict";
import { asOwnerId, asTaskId, type TaskRecord } from "@taskbridge/core/store";
import { assertRejects, assertSame, settleAll } from "./store-assert.ts";
import { createSample, sampleRecord } from "./store-sample.ts";
import type { StoreSuite } from "./store-suite.ts";

const hostileIds = [
  `'; DROP TABLE tasks; --`,
  `"quoted" \\ back\\slash`,
  "%_*?[a-z]{x}:",
  "../../etc/passwd",
  "case",
  "CASE",
  "trailing ",
  "trailing",
  "caf\u00e9",
  "cafe\u0301",
  "日本語 🙂 \u202e",
  "line\nbreak\ttab",
  "x".repeat(1024),
];

export const testCreate = ({ describe, it, store, reopen, elapseRemovals }: StoreSuite): void => {
  describe("create", () => {
    it("stores the record with revision 1 and the payloads beside it", async () => {
      const record = sampleRecord();
      const bytes = new TextEncoder().encode('{"url":"https://example.com"}');
      const created = await createSample(store(), record, { payloads: [{ name: "input", bytes }] });
      assertSame(created, { ...record, revision: 1 });
      assertSame(await store().read(record.taskId), created);
      const payload = await store().readPayload(record.taskId, "input", { offset: 0, length: 1000 });
      assert.deepEqual(payload && new Uint8Array(payload.bytes), bytes);
    });

    it("knows nothing of an ID that was never created", async () => {
      assert.equal(await store().read(asTaskId("never-created")), undefined);
    });

    it("keeps members that this version does not know", async () => {
      const future = { list: [1, null, "two"], nested: { "odd key": false } };
      const { taskId } = await createSample(store(), {
        future,
        start: { deadlineAt: 1, nextVersion: future } as TaskRecord["start"],
      });
      const read = (await store().read(taskId)) as TaskRecord & { future?: unknown };
      assertSame(read.future, future);
      assertSame(read.start, { deadlineAt: 1, nextVersion: future });
    });

    it("keeps a record of 16 KiB, whatever its text holds", async () => {
      const odd = '\u0000 \u001f \ud83d\ude42 \u2028 " \\ ';
      const bare = sampleRecord({ message: odd });
      const rest = 16_384 - Buffer.byteLength(JSON.stringify({ ...bare, revision: 1 }));
      const created = await createSample(store(), { ...bare, message: odd + "x".repeat(rest) });
      assertSame(await store().read(created.taskId), created);
    });

    it("shares no memory with its callers", async () => {
      const record = sampleRecord({ target: { queue: "video" } });
      const bytes = new Uint8Array([1, 2, 3]);
      const created = await createSample(store(), record, { payloads: [{ name: "input", bytes }] });
      const payload = await store().readPayload(record.taskId, "input", { offset: 0, length: 3 });
      for (const target of [record.target, created.target, (await store().read(record.taskId))?.target]) {
        (target as { queue: string }).queue = "changed";
      }
      bytes.fill(9);
      payload?.bytes.fill(9);
      assertSame((await store().read(record.taskId))?.target, { queue: "video" });
      const again = await store().readPayload(record.taskId, "input", { offset: 0, length: 3 });
      assert.deepEqual(again && [...again.bytes], [1, 2, 3]);
    });

    it("tells any two IDs apart, and owners likewise", async () => {
      for (const id of hostileIds)
        await createSample(store(), { taskId: asTaskId(id), owner: asOwnerId(id), message: id });
      for (const id of hostileIds) {
        assert.equal((await store().read(asTaskId(id)))?.message, id);
        const { records } = await store().list({ owner: asOwnerId(id) }, {}, undefined, 10);
        assertSame(
          records.map((record) => record.taskId),
          [id],
        );
      }
    });

    it("refuses an ID that exists", async () => {
      const { taskId } = await createSample(store(), { message: "first" });
      const error = await assertRejects(createSample(store(), { taskId, message: "second" }), "conflict");
      assert.equal(error.data?.taskId, taskId);
      assert.equal((await store().read(taskId))?.message, "first");
    });

    it("refuses a taken unique key, naming the holder, and then has written nothing", async () => {
      const holder = await createSample(store(), {}, { uniqueKeys: [{ key: "taken" }] });
      const refused = sampleRecord();
      const uniqueKeys = [{ key: "free" }, { key: "taken" }];
      const payloads = [{ name: "input" as const, bytes: new Uint8Array(8) }];
      const error = await assertRejects(createSample(store(), refused, { uniqueKeys, payloads }), "conflict");
      assert.equal(error.data?.taskId, holder.taskId);
      assert.equal(await store().read(refused.taskId), undefined);
      assert.equal(await store().readPayload(refused.taskId, "input", { offset: 0, length: 8 }), undefined);
      await createSample(store(), {}, { uniqueKeys: [{ key: "free" }] });
    });

    it("lets exactly one of many concurrent creates have a key", async () => {
      const attempts = Array.from({ length: 20 }, () =>
        createSample(store(), {}, { uniqueKeys: [{ key: "contended" }] }),
      );
      const { values, errors } = await settleAll(attempts, "conflict");
      assert.equal(values.length, 1);
      assert.deepEqual(new Set(errors.map((error) => error.data?.taskId)), new Set([values[0]?.taskId]));
      assert.equal((await store().list({ operator: true }, {}, undefined, 100)).records.length, 1);
    });
  });

  describe("remove", () => {
    it("removes record and payloads, and may be repeated", async () => {
      const payloads = [{ name: "input" as const, bytes: new Uint8Array(8) }];
      const { taskId } = await createSample(store(), {}, { payloads });
      assert.deepEqual([await store().remove(taskId), await store().remove(taskId)], [true, false]);
      assert.equal(await store().read(taskId), undefined);
      assert.equal(await store().readPayload(taskId, "input", { offset: 0, length: 8 }), undefined);
      assertSame((await store().list({ operator: true }, { includeExpired: true }, undefined, 10)).records, []);
    });

    it("removes only the revision that is expected, if one is, and else has changed nothing", async () => {
      const payloads = [{ name: "input" as const, bytes: new Uint8Array(8) }];
      const uniqueKeys = [{ key: "minted", heldForMs: 3_600_000 }];
      const created = await createSample(store(), { wakeAt: 1 }, { payloads, uniqueKeys });
      const { taskId } = created;
      const revised = await store().revise({ ...created, message: "revised" }, 1);
      for (const expected of [1, 3, 0]) {
        const error = await assertRejects(store().remove(taskId, expected), "conflict");
        assertSame([error.operation, error.data], ["remove", { taskId, revision: 2 }]);
      }
      assertSame(await store().read(taskId), revised);
      assertSame(await store().due(10), [revised]);
      assert.ok(await store().readPayload(taskId, "input", { offset: 0, length: 8 }));
      assert.deepEqual([await store().remove(taskId, 2), await store().remove(taskId, 2)], [true, false]);
      assert.equal(await store().read(taskId), undefined);
      const held = await assertRejects(createSample(store(), {}, { uniqueKeys: [{ key: "minted" }] }), "conflict");
      assert.equal(held.data?.taskId, taskId);
    });

    it("tells of each of many removals at once what became of it", async () => {
      const created = await Promise.all(Array.from({ length: 120 }, () => createSample(store(), { wakeAt: 1 })));
      const idsOf = (records: readonly { readonly taskId: string }[]): string[] =>
        records.map(({ taskId }) => taskId).sort();
      const revised = created.filter((_, index) => index % 10 === 0);
      for (const record of revised) await store().revise({ ...record, message: "revised" }, 1);
      const removals = created.map(({ taskId, revision }) => store().remove(taskId, revision));
      const again = store().remove((created[1] as TaskRecord).taskId);
      const { errors } = await settleAll(removals, "conflict");
      await again;
      assertSame(errors.map((error) => error.data?.taskId).sort(), idsOf(revised));
      assertSame(idsOf((await store().list({ operator: true }, {}, undefined, 500)).records), idsOf(revised));
      assertSame(idsOf(await store().due(500)), idsOf(revised));
    });

    it("keeps the ID taken for a while, so that a create that was still on its way brings nothing back", async () => {
      // In one process none is on its way once it has failed.
      if (!store().shared) return;
      const other = reopen ? await reopen() : store();
      const record = sampleRecord({ wakeAt: 5 });
      const payloads = [{ name: "input" as const, bytes: new Uint8Array(8) }];
      await createSample(store(), record, { payloads });
      await other.remove(record.taskId);
      const isFull = { maxOpenForOwner: 1, maxOpenForTool: 1 };
      const holder = await createSample(store(), {}, isFull);
      for (const options of [{ payloads }, { payloads, uniqueKeys: [{ key: "call" }] }, { payloads, ...isFull }]) {
        const error = await assertRejects(createSample(store(), record, options), "conflict");
        assert.equal(error.data?.taskId, record.taskId);
      }
      assert.equal(await store().read(record.taskId), undefined);
      assert.equal(await store().readPayload(record.taskId, "input", { offset: 0, length: 8 }), undefined);
      assertSame(await store().due(10), []);
      assert.equal(await store().findByExecution(record.adapterId, { key: record.startKey }), undefined);
      assertSame((await store().list({ operator: true }, {}, undefined, 10)).records, [holder]);
      await createSample(store(), {}, { uniqueKeys: [{ key: "call" }], maxOpenForOwner: 2, maxOpenForTool: 2 });
    });

    it("does not bring old payloads back when the ID is created again", async () => {
      const { taskId } = await createSample(store(), {}, { payloads: [{ name: "input", bytes: new Uint8Array(8) }] });
      await store().remove(taskId);
      await elapseRemovals();
      await createSample(store(), { taskId });
      assert.equal(await store().readPayload(taskId, "input", { offset: 0, length: 8 }), undefined);
    });

    it("frees keys without `until` and leaves those with one taken, still naming the task", async () => {
      const uniqueKeys = [{ key: "plain" }, { key: "tombstone", until: store().now() + 3_600_000 }];
      const { taskId } = await createSample(store(), {}, { uniqueKeys });
      await store().remove(taskId);
      await createSample(store(), {}, { uniqueKeys: [{ key: "plain" }] });
      const error = await assertRejects(createSample(store(), {}, { uniqueKeys: [{ key: "tombstone" }] }), "conflict");
      assert.equal(error.data?.taskId, taskId);
    });

    it("leaves keys with `heldForMs` taken, still naming the task, also by its own ID and when it is repeated", async () => {
      const uniqueKeys = [{ key: "plain" }, { key: "minted", heldForMs: 3_600_000 }];
      const { taskId } = await createSample(store(), {}, { uniqueKeys });
      await store().remove(taskId);
      await store().remove(taskId);
      await createSample(store(), {}, { uniqueKeys: [{ key: "plain" }] });
      for (const overrides of [{}, { taskId }]) {
        const error = await assertRejects(
          createSample(store(), overrides, { uniqueKeys: [{ key: "minted" }] }),
          "conflict",
        );
        assert.equal(error.data?.taskId, taskId);
      }
      assert.equal(await store().read(taskId), undefined);
    });

    it("never lets two have a key with `heldForMs`, while creates and removals race", async () => {
      const uniqueKeys = [{ key: "minted", heldForMs: 3_600_000 }];
      const records = Array.from({ length: 20 }, () => sampleRecord());
      const attempts = records.map(async (record, index) => {
        if (index % 4 === 3) for (const { taskId } of records) await store().remove(taskId);
        return createSample(store(), record, { uniqueKeys });
      });
      const { values } = await settleAll(attempts, "conflict");
      assert.equal(values.length, 1);
    });
  });
};

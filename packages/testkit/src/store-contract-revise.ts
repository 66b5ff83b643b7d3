import assert from "node:assert/strict";
import {
  asAdapterId,
  asExecutionRef,
  asOwnerId,
  asStartKey,
  isBridgeError,
  type TaskId,
  type TaskStore,
} from "@taskbridge/core/store";
import { assertRejects, assertSame, settleAll } from "./store-assert.ts";
import { createSample } from "./store-sample.ts";
import type { StoreSuite } from "./store-suite.ts";

/** Adds one to `minted`, however often others get in between. */
const increment = async (store: TaskStore, taskId: TaskId): Promise<void> => {
  for (;;) {
    const record = await store.read(taskId);
    assert.ok(record);
    try {
      await store.revise({ ...record, minted: record.minted + 1 }, record.revision);
      return;
    } catch (error) {
      if (!isBridgeError(error) || error.code !== "conflict") throw error;
    }
  }
};

export const testRevise = ({ describe, it, store, reopen }: StoreSuite): void => {
  describe("revise", () => {
    it("replaces the record, one revision on", async () => {
      const created = await createSample(store(), { message: "waits", future: 1 });
      const { message: _, ...rest } = created;
      const revised = await store().revise({ ...rest, state: "running", wakeAt: 5 }, 1);
      assertSame(revised, { ...rest, state: "running", wakeAt: 5, revision: 2 });
      assertSame(await store().read(created.taskId), revised);
    });

    it("refuses another revision than the stored one and then has changed nothing", async () => {
      const payloads = [{ name: "input" as const, bytes: new Uint8Array([1]) }];
      const created = await createSample(store(), { message: "one" }, { payloads });
      const current = await store().revise({ ...created, message: "two" }, 1);
      const late = {
        payloads: [{ name: "output" as const, bytes: new Uint8Array([2]) }],
        dropPayloads: "all" as const,
      };
      for (const expected of [1, 3, 0]) {
        await assertRejects(store().revise({ ...created, message: "late" }, expected, late), "conflict");
      }
      assertSame(await store().read(created.taskId), current);
      assert.ok(await store().readPayload(created.taskId, "input", { offset: 0, length: 1 }));
      assert.equal(await store().readPayload(created.taskId, "output", { offset: 0, length: 1 }), undefined);
    });

    it("goes by the expected revision, not by the one in the record", async () => {
      const created = await createSample(store());
      const revised = await store().revise({ ...created, revision: 77 }, 1);
      assert.equal(revised.revision, 2);
      assert.equal((await store().read(created.taskId))?.revision, 2);
    });

    it("answers `not_found` for a record that was removed", async () => {
      const created = await createSample(store());
      await store().remove(created.taskId);
      await assertRejects(store().revise(created, 1), "not_found");
      assert.equal(await store().read(created.taskId), undefined);
    });

    it("lets exactly one of many revisers of the same revision through", async () => {
      const created = await createSample(store());
      const attempts = Array.from({ length: 20 }, (_, index) => store().revise({ ...created, minted: index }, 1));
      const { values } = await settleAll(attempts, "conflict");
      assert.equal(values.length, 1);
      assertSame(await store().read(created.taskId), values[0]);
    });

    it("loses and doubles nothing under 50 concurrent revisers", async () => {
      const handles = reopen ? [store(), await reopen()] : [store()];
      const { taskId } = await createSample(store());
      const revisers = Array.from({ length: 50 }, (_, index) =>
        increment(handles[index % handles.length] ?? store(), taskId),
      );
      await Promise.all(revisers);
      const read = await store().read(taskId);
      assert.deepEqual([read?.minted, read?.revision], [50, 51]);
    });

    it("shows a revision that may be lost in a crash at once, and builds on it", async () => {
      const created = await createSample(store());
      const revised = await store().revise({ ...created, message: "light" }, 1, { durable: false });
      assertSame(await store().read(created.taskId), revised);
      assert.equal((await store().revise(revised, 2)).revision, 3);
    });

    it("moves the record in every index", async () => {
      const created = await createSample(store(), { wakeAt: 1 });
      const [adapterId, owner] = [asAdapterId("another"), asOwnerId("another")];
      await store().revise(
        { ...created, adapterId, owner, tool: "other", slotHeld: false, wakeAt: null, createdAt: 5 },
        1,
      );
      const ids = async (filter: object, scope: { owner: typeof owner }): Promise<TaskId[]> =>
        (await store().list(scope, filter, undefined, 10)).records.map((record) => record.taskId);
      assertSame(await ids({ adapterId, tool: "other", slotHeld: false }, { owner }), [created.taskId]);
      assertSame(await ids({}, { owner: asOwnerId("local") }), []);
      assertSame([await store().due(10), await store().nextWakeAt()], [[], null]);
    });
  });

  describe("findByExecution", () => {
    const adapterId = asAdapterId("video");

    it("finds by start key at once, and by ref once there is one", async () => {
      const created = await createSample(store(), { adapterId });
      const ref = asExecutionRef('{"queue":"video","id":"7"}');
      assertSame(await store().findByExecution(adapterId, { key: created.startKey }), created);
      assert.equal(await store().findByExecution(adapterId, { ref }), undefined);
      const revised = await store().revise({ ...created, ref }, 1);
      assertSame(await store().findByExecution(adapterId, { ref }), revised);
      assertSame(await store().findByExecution(adapterId, { key: created.startKey }), revised);
    });

    it("follows a ref that evolves, and forgets a removed record", async () => {
      const [queued, built] = [asExecutionRef('{"queueItem":1}'), asExecutionRef('{"build":2}')];
      const created = await createSample(store(), { adapterId, ref: queued });
      await store().revise({ ...created, ref: built }, 1);
      assert.equal(await store().findByExecution(adapterId, { ref: queued }), undefined);
      assert.equal((await store().findByExecution(adapterId, { ref: built }))?.taskId, created.taskId);
      await store().remove(created.taskId);
      assert.equal(await store().findByExecution(adapterId, { ref: built }), undefined);
      assert.equal(await store().findByExecution(adapterId, { key: created.startKey }), undefined);
    });

    it("keeps adapters apart, and refs from keys", async () => {
      const text = "mcp-0123456789abcdef0123456789abcdef";
      const byRef = await createSample(store(), { adapterId: asAdapterId("a"), ref: asExecutionRef(text) });
      const byKey = await createSample(store(), { adapterId: asAdapterId("b"), startKey: asStartKey(text) });
      const find = async (
        adapter: string,
        by: Parameters<TaskStore["findByExecution"]>[1],
      ): Promise<TaskId | undefined> => (await store().findByExecution(asAdapterId(adapter), by))?.taskId;
      assert.equal(await find("a", { ref: asExecutionRef(text) }), byRef.taskId);
      assert.equal(await find("b", { ref: asExecutionRef(text) }), undefined);
      assert.equal(await find("a", { key: asStartKey(text) }), undefined);
      assert.equal(await find("b", { key: asStartKey(text) }), byKey.taskId);
    });
  });
};

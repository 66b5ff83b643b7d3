import assert from "node:assert/strict";
import { asAdapterId, asExecutionRef, asOwnerId, asTaskId } from "@taskbridge/core/store";
import { assertRejects, assertSame } from "./store-assert.ts";
import { createSample, sampleRecord } from "./store-sample.ts";
import type { StoreSuite } from "./store-suite.ts";

/** IDs as they come from outside, which no server has ever minted. */
const unheardOf = ["", " ", "a\u0000b", "\ud800", "x".repeat(100_000), "日".repeat(2_000), "sha256:0"].map(asTaskId);

export const testOddValues = ({ describe, it, store }: StoreSuite): void => {
  describe("odd values", () => {
    it("knows nothing of IDs that nobody could have created, and says no more of them", async () => {
      for (const taskId of unheardOf) {
        assert.equal(await store().read(taskId), undefined);
        assert.equal(await store().readPayload(taskId, "output", { offset: 0, length: 1 }), undefined);
        await store().remove(taskId);
        const record = { ...sampleRecord(), taskId, revision: 1 };
        await assertRejects(store().revise(record, 1), "not_found");
        await assertRejects(store().putPayload(taskId, "output", 0, new Uint8Array(1)), "not_found");
      }
    });

    it("tells long and unprintable names apart", async () => {
      const names = ["a", "a\u0000", "a\u0000b", "x".repeat(5_000), `${"x".repeat(4_999)}y`, "日".repeat(1_500)];
      // Halves of surrogate pairs, which UTF-8 does not have.
      names.push("\ufffd", "\ud800", "\ud801", "a\ud83d");
      const positionAt = (name: string): string => (/\p{Surrogate}/u.test(name) ? JSON.stringify(name) : name);
      for (const name of names) {
        await createSample(
          store(),
          { owner: asOwnerId(name), tool: name, adapterId: asAdapterId(name), message: name },
          { uniqueKeys: [{ key: name }], maxOpenForOwner: 1, maxOpenForTool: 1 },
        );
        assert.equal(await store().values.write(name, positionAt(name), undefined), true);
        assert.ok(await store().lease(name, 3_600_000));
      }
      for (const name of names) {
        const filter = { tool: name, adapterId: asAdapterId(name) };
        const { records } = await store().list({ owner: asOwnerId(name) }, filter, undefined, 10);
        assertSame(
          records.map((record) => record.message),
          [name],
        );
        await assertRejects(createSample(store(), {}, { uniqueKeys: [{ key: name }] }), "conflict");
        assert.equal(await store().values.read(name), positionAt(name));
        assert.equal(await store().lease(name, 1), undefined);
      }
    });

    it("never takes one ID for another that UTF-8 writes alike", async () => {
      const taskId = asTaskId("x\ud800");
      const record = sampleRecord({ taskId });
      const isKept = await createSample(store(), record).then(
        () => true,
        () => false,
      );
      assert.equal((await store().read(taskId)) !== undefined, isKept);
      for (const other of ["x\ud801", "x\ufffd"].map(asTaskId)) {
        assert.equal(await store().read(other), undefined);
        await createSample(store(), { taskId: other }).catch(() => {});
        await store().remove(other);
      }
      assert.equal((await store().read(taskId)) !== undefined, isKept);
    });

    it("finds an execution by a ref of some kilobytes", async () => {
      const adapterId = asAdapterId("video");
      const refs = ["a", "b"].map((end) => asExecutionRef(JSON.stringify({ url: "x".repeat(6_000) + end })));
      const records = [];
      for (const ref of refs) records.push(await createSample(store(), { adapterId, ref }));
      for (const [index, ref] of refs.entries())
        assertSame(await store().findByExecution(adapterId, { ref }), records[index]);
    });

    it("keeps fractions of a millisecond, in what is due and from page to page", async () => {
      // In whichever order of their IDs a store without fractions lists them, it is another.
      const instants = { b: 1000.25, c: 1000.5, a: 1000.75 };
      for (const [index, [id, createdAt]] of Object.entries(instants).entries())
        await createSample(store(), { taskId: asTaskId(id), createdAt, wakeAt: createdAt, message: String(index) });
      const seen: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await store().list({ operator: true }, {}, cursor, 1);
        seen.push(...page.records.map(({ message, createdAt }) => [message, createdAt]));
        cursor = page.cursor;
      } while (cursor !== undefined);
      assertSame(seen, [
        ["2", 1000.75],
        ["1", 1000.5],
        ["0", 1000.25],
      ]);
      assert.equal(await store().nextWakeAt(), 1000.25);
      assertSame(
        (await store().due(10)).map((record) => record.message),
        ["0", "1", "2"],
      );
    });

    it("takes a key that is named twice as one", async () => {
      const until = store().now() + 3_600_000;
      const { taskId } = await createSample(store(), {}, { uniqueKeys: [{ key: "twice" }, { key: "twice", until }] });
      const error = await assertRejects(createSample(store(), {}, { uniqueKeys: [{ key: "twice" }] }), "conflict");
      assert.equal(error.data?.taskId, taskId);
    });
  });
};

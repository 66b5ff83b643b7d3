import assert from "node:assert/strict";
import {
  asAdapterId,
  asExecutionRef,
  asOwnerId,
  isBridgeError,
  type TaskId,
  type TaskRecord,
} from "@taskbridge/core/store";
import { assertRejects, assertSame, settleAll } from "./store-assert.ts";
import { createSample, sampleRecord } from "./store-sample.ts";
import type { StoreSuite } from "./store-suite.ts";

const longMs = 3_600_000;

/** The numbers from 0, in an order that looks like none and is always the same. */
const shuffled = (count: number): number[] => Array.from({ length: count }, (_, index) => (index * 37 + 11) % count);

const idsOf = (records: readonly TaskRecord[]): TaskId[] => records.map(({ taskId }) => taskId);

/** What only shows with many records, or many calls at once: a store that spreads them over several places must put them together again. */
export const testMany = ({ describe, it, store, reopen, elapseRemovals }: StoreSuite): void => {
  describe("many at once", () => {
    it("lets one of two creates win that need the same keys in opposite order, and names it to the other", async () => {
      const pairs = Array.from({ length: 8 }, async (_, pair) => {
        const [one, two] = [{ key: `${pair}-one` }, { key: `${pair}-two` }];
        const attempts = [
          createSample(store(), {}, { uniqueKeys: [one, two] }),
          createSample(store(), {}, { uniqueKeys: [two, one] }),
        ];
        const { values, errors } = await settleAll(attempts, "conflict");
        assertSame(
          errors.map(({ data }) => data?.["taskId"]),
          idsOf(values),
        );
      });
      await Promise.all(pairs);
    });

    it("names no holder that cannot be read", async () => {
      const attempts = Array.from({ length: 20 }, async () => {
        try {
          return (await createSample(store(), {}, { uniqueKeys: [{ key: "call" }] })).taskId;
        } catch (error) {
          assert.ok(isBridgeError(error) && error.code === "conflict", String(error));
          const holder = await store().read(error.data?.["taskId"] as TaskId);
          assert.ok(holder, "the holder was not there yet");
          return holder.taskId;
        }
      });
      assert.equal(new Set(await Promise.all(attempts)).size, 1);
    });

    it("takes nobody's place for a create that is refused for its key", async () => {
      const owner = asOwnerId("alice");
      await createSample(store(), {}, { uniqueKeys: [{ key: "taken" }] });
      const limits = { maxOpenForOwner: 1, maxOpenForTool: 2 };
      const refused = Array.from({ length: 10 }, () =>
        createSample(store(), { owner }, { ...limits, uniqueKeys: [{ key: "taken" }] }),
      );
      const [created, { errors }] = await Promise.all([
        createSample(store(), { owner }, limits),
        settleAll(refused, "conflict"),
      ]);
      assert.equal(errors.length, 10);
      assertSame(await store().read(created.taskId), created);
    });

    it("fills a limit to the last place, while others leave", async () => {
      const owner = asOwnerId("alice");
      const limit = { maxOpenForOwner: 5 };
      for (let round = 0; round < 3; round++) {
        const attempts = Array.from({ length: 8 }, () => createSample(store(), { owner }, limit));
        const { values } = await settleAll(attempts, "limit_exceeded");
        assert.equal(values.length, 5);
        await Promise.all(values.map((record) => store().revise({ ...record, slotHeld: false }, 1)));
      }
      assert.equal((await store().list({ owner }, { slotHeld: true }, undefined, 100)).records.length, 0);
    });

    it("keeps unique keys through revisions", async () => {
      const created = await createSample(store(), {}, { uniqueKeys: [{ key: "kept" }] });
      const revised = await store().revise({ ...created, slotHeld: false, ref: asExecutionRef("r") }, 1);
      const error = await assertRejects(createSample(store(), {}, { uniqueKeys: [{ key: "kept" }] }), "conflict");
      assert.equal(error.data?.["taskId"], revised.taskId);
      await store().remove(revised.taskId);
      await createSample(store(), {}, { uniqueKeys: [{ key: "kept" }] });
    });
  });

  describe("many records", () => {
    it("are listed in one order, page by page, for the operator too", async () => {
      const order = shuffled(100);
      await Promise.all(order.map((createdAt) => createSample(store(), { createdAt, slotHeld: createdAt % 3 === 0 })));
      const pages = async (filter: object, limit: number): Promise<number[]> => {
        const seen: number[] = [];
        let cursor: string | undefined;
        do {
          const page = await store().list({ operator: true }, filter, cursor, limit);
          seen.push(...page.records.map(({ createdAt }) => createdAt));
          cursor = page.cursor;
        } while (cursor !== undefined);
        return seen;
      };
      const newestFirst = order.toSorted((a, b) => b - a);
      assertSame(await pages({}, 7), newestFirst);
      assertSame(await pages({}, 100), newestFirst);
      assertSame(
        await pages({ slotHeld: true, tool: "transcode" }, 9),
        newestFirst.filter((at) => at % 3 === 0),
      );
      assertSame(
        await pages({ slotHeld: true }, 9),
        newestFirst.filter((at) => at % 3 === 0),
      );
    });

    it("are due in one order, and the next wake-up is always known", async () => {
      const order = shuffled(60);
      const records = await Promise.all(order.map((at) => createSample(store(), { wakeAt: 1000 + at })));
      const wakeTimes = async (limit: number): Promise<(number | null)[]> =>
        (await store().due(limit)).map(({ wakeAt }) => wakeAt);
      assertSame(await wakeTimes(7), [1000, 1001, 1002, 1003, 1004, 1005, 1006]);
      assert.equal((await store().due(100)).length, 60);
      const byTime = records.toSorted((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0));
      for (const [index, record] of byTime.slice(0, 20).entries()) {
        assert.equal(await store().nextWakeAt(), 1000 + index);
        if (index % 2 === 0) await store().remove(record.taskId);
        else await store().revise({ ...record, wakeAt: store().now() + longMs }, 1);
      }
      assertSame(await wakeTimes(2), [1020, 1021]);
      const early = await createSample(store(), { wakeAt: 5 });
      assert.equal(await store().nextWakeAt(), 5);
      assertSame((await store().due(1))[0], early);
    });

    it("that are due go to one each of those who claim at once", async () => {
      // In one process nobody competes for them.
      if (!store().shared) return;
      const handles = reopen ? [store(), await reopen()] : [store()];
      const records = await Promise.all(shuffled(40).map((at) => createSample(store(), { wakeAt: 1000 + at })));
      const claimed: TaskId[] = [];
      for (let round = 0; round < 10 && claimed.length < records.length; round++) {
        const turns = Array.from({ length: 4 }, (_, turn) =>
          (handles[turn % handles.length] ?? store()).due(5, longMs),
        );
        for (const page of await Promise.all(turns)) claimed.push(...idsOf(page));
      }
      assert.deepEqual([claimed.length, new Set(claimed).size], [40, 40]);
      assertSame(await store().due(5, longMs), []);
    });

    it("are found by what they share: the newest", async () => {
      const [adapterId, ref] = [asAdapterId("video"), asExecutionRef("shared")];
      const [, newest, older] = [
        await createSample(store(), { adapterId, ref, createdAt: 1 }),
        await createSample(store(), { adapterId, ref, createdAt: 3 }),
        await createSample(store(), { adapterId, ref, createdAt: 2 }),
      ];
      assertSame(await store().findByExecution(adapterId, { ref }), newest);
      await store().remove(newest.taskId);
      assertSame(await store().findByExecution(adapterId, { ref }), older);
    });

    it("with an ID that was used before are listed and found as they are now", async () => {
      const record = sampleRecord({ wakeAt: 5 });
      for (let life = 1; life <= 3; life++) {
        const created = await createSample(store(), { ...record, message: `life ${life}` });
        const { records } = await store().list({ owner: record.owner }, {}, undefined, 10);
        assertSame(records, [created]);
        assertSame(await store().findByExecution(record.adapterId, { key: record.startKey }), created);
        assertSame(await store().due(10), [created]);
        await store().remove(record.taskId);
        assertSame((await store().list({ operator: true }, {}, undefined, 10)).records, []);
        await elapseRemovals();
      }
    });
  });
};

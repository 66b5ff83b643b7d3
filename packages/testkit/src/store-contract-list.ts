import assert from "node:assert/strict";
import { asAdapterId, asOwnerId, type ListFilter, type ListScope, type TaskId } from "@taskbridge/core/store";
import { assertRejects, assertSame } from "./store-assert.ts";
import { createSample } from "./store-sample.ts";
import type { StoreSuite } from "./store-suite.ts";

const alice = asOwnerId("https://issuer.example|alice");
const bob = asOwnerId("https://issuer.example|bob");
const operator: ListScope = { operator: true };

export const testList = ({ describe, it, store }: StoreSuite): void => {
  const listIds = async (scope: ListScope, filter: ListFilter = {}): Promise<TaskId[]> =>
    (await store().list(scope, filter, undefined, 100)).records.map((record) => record.taskId);

  const cursorAfter = async (scope: ListScope, filter: ListFilter, limit: number): Promise<string> => {
    const { cursor } = await store().list(scope, filter, undefined, limit);
    assert.ok(cursor);
    return cursor;
  };

  describe("list", () => {
    it("shows whole records, newest first", async () => {
      const records = [];
      for (const createdAt of [300, 100, 200]) records.push(await createSample(store(), { createdAt }));
      const [latest, earliest, middle] = records;
      const page = await store().list({ owner: asOwnerId("local") }, {}, undefined, 10);
      assertSame(page, { records: [latest, middle, earliest] });
    });

    it("shows an owner only their own, those without an owner only such, and the operator all", async () => {
      const [ofAlice, ofBob, ofNobody] = [
        await createSample(store(), { owner: alice }),
        await createSample(store(), { owner: bob }),
        await createSample(store(), { owner: null }),
      ].map((record) => record.taskId);
      assertSame(await listIds({ owner: alice }), [ofAlice]);
      assertSame(await listIds({ owner: bob }), [ofBob]);
      assertSame(await listIds({ owner: null }), [ofNobody]);
      assertSame(await listIds({ owner: asOwnerId("null") }), []);
      assert.deepEqual(new Set(await listIds(operator)), new Set([ofAlice, ofBob, ofNobody]));
    });

    it("filters by adapter, tool and slot, and all at once", async () => {
      const adapterId = asAdapterId("aws");
      const plain = await createSample(store(), { createdAt: 1 });
      const other = await createSample(store(), { createdAt: 2, adapterId });
      const ended = await createSample(store(), { createdAt: 3, adapterId, tool: "render", slotHeld: false });
      assertSame(await listIds(operator, { adapterId }), [ended.taskId, other.taskId]);
      assertSame(await listIds(operator, { tool: "render" }), [ended.taskId]);
      assertSame(await listIds(operator, { slotHeld: true }), [other.taskId, plain.taskId]);
      assertSame(await listIds(operator, { slotHeld: false }), [ended.taskId]);
      assertSame(await listIds({ owner: plain.owner }, { adapterId, tool: "transcode", slotHeld: true }), [
        other.taskId,
      ]);
    });

    it("hides records marked as expired unless asked", async () => {
      const live = await createSample(store(), { createdAt: 1 });
      const expired = await createSample(store(), { createdAt: 2 });
      await store().revise({ ...expired, expired: true }, 1);
      assertSame(await listIds(operator), [live.taskId]);
      assertSame(await listIds(operator, { includeExpired: true }), [expired.taskId, live.taskId]);
    });

    it("pages without doubling or missing any while records come and go", async () => {
      const original = new Set<TaskId>();
      // Several at one instant, so that the order within an instant counts too.
      for (let index = 0; index < 25; index++) {
        original.add((await createSample(store(), { owner: alice, createdAt: 1000 + Math.floor(index / 5) })).taskId);
      }
      const seen: TaskId[] = [];
      let cursor: string | undefined;
      do {
        const page = await store().list({ owner: alice }, {}, cursor, 4);
        assert.ok(page.records.length <= 4);
        seen.push(...page.records.map((record) => record.taskId));
        cursor = page.cursor;
        await createSample(store(), { owner: alice, createdAt: 5000 });
        await createSample(store(), { owner: bob, createdAt: 1002 });
        const last = page.records.at(-1);
        if (last !== undefined) await store().remove(last.taskId);
      } while (cursor !== undefined);
      assert.equal(seen.length, new Set(seen).size, "a record was shown twice");
      assert.deepEqual(new Set(seen), original);
    });

    it("gives no cursor with the last page", async () => {
      for (let index = 0; index < 4; index++) await createSample(store(), { createdAt: index });
      const first = await store().list(operator, {}, undefined, 2);
      const second = await store().list(operator, {}, first.cursor, 2);
      assert.deepEqual([first.records.length, second.records.length, second.cursor], [2, 2, undefined]);
      assertSame(await store().list(operator, { tool: "unheard-of" }, undefined, 2), { records: [] });
    });

    it("refuses a cursor of another listing", async () => {
      for (const owner of [alice, alice, bob, bob]) await createSample(store(), { owner });
      const cursor = await cursorAfter({ owner: alice }, {}, 1);
      const others: [ListScope, ListFilter][] = [
        [{ owner: bob }, {}],
        [{ owner: null }, {}],
        [operator, {}],
        [{ owner: alice }, { tool: "transcode" }],
        [{ owner: alice }, { slotHeld: true }],
        [{ owner: alice }, { includeExpired: true }],
      ];
      for (const [scope, filter] of others)
        await assertRejects(store().list(scope, filter, cursor, 1), "invalid_input");
      assert.equal((await store().list({ owner: alice }, {}, cursor, 1)).records.length, 1);
    });

    it("refuses a mangled cursor", async () => {
      for (let index = 0; index < 3; index++) await createSample(store());
      const cursor = await cursorAfter(operator, {}, 1);
      const middle = Math.floor(cursor.length / 2);
      const flipped = cursor.slice(0, middle) + (cursor[middle] === "A" ? "B" : "A") + cursor.slice(middle + 1);
      const mangled = [
        "",
        " ",
        "null",
        "🙂",
        flipped,
        cursor.slice(0, middle),
        cursor.slice(middle),
        "A".repeat(100_000),
      ];
      for (const text of mangled) await assertRejects(store().list(operator, {}, text, 1), "invalid_input");
    });
  });
};

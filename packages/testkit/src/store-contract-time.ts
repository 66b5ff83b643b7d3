import assert from "node:assert/strict";
import { assertRejects, assertSame } from "./store-assert.ts";
import { createSample } from "./store-sample.ts";
import type { StoreSuite } from "./store-suite.ts";

/** Short enough to wait for, long enough that a slow machine does not use it up between two calls. */
const shortMs = 1000;
const longMs = 3_600_000;

export const testTime = ({ describe, it, store, elapse, elapseRemovals }: StoreSuite): void => {
  describe("time", () => {
    it("moves on by its clock", async () => {
      const before = store().now();
      await elapse(shortMs);
      // A networked store corrects its view of the server's clock now and then.
      assert.ok(store().now() >= before + shortMs - 100, `${store().now() - before} ms passed`);
    });

    it("hands out what is due, earliest first, and nothing before its time", async () => {
      const now = store().now();
      const wakeTimes = { late: now - 1, early: now - longMs, never: null, exactly: now, soon: now + longMs };
      for (const [message, wakeAt] of Object.entries(wakeTimes)) await createSample(store(), { message, wakeAt });
      const messages = async (limit: number): Promise<unknown[]> =>
        (await store().due(limit)).map((record) => record.message);
      assertSame(await messages(10), ["early", "late", "exactly"]);
      assertSame(await messages(2), ["early", "late"]);
    });

    it("finds a record due once its time has come, and no more once it is put off", async () => {
      const created = await createSample(store(), { wakeAt: store().now() + shortMs });
      await elapse(shortMs);
      assertSame(await store().due(10), [created]);
      await store().revise({ ...created, wakeAt: store().now() + longMs }, 1);
      assertSame(await store().due(10), []);
    });

    it("hands what is due to one caller only, where it is claimed", async () => {
      // In one process nobody competes for it.
      if (!store().shared) return;
      const now = store().now();
      const early = await createSample(store(), { wakeAt: now - 2 });
      const late = await createSample(store(), { wakeAt: now - 1 });
      assertSame(await store().due(1, longMs), [early]);
      assertSame(await store().due(10, shortMs), [late]);
      assertSame(await store().due(10, longMs), []);
      // Who does not claim sees all of it, and takes nothing away.
      assertSame(await store().due(10), [early, late]);
      assert.equal(await store().nextWakeAt(), early.wakeAt);
      const revised = await store().revise({ ...early, message: "put off no longer" }, 1);
      assertSame(await store().due(10, longMs), [revised]);
      await elapse(shortMs);
      assertSame(await store().due(10, longMs), [late]);
    });

    it("tells the earliest wake-up of all, past or future", async () => {
      assert.equal(await store().nextWakeAt(), null);
      await createSample(store(), { wakeAt: null });
      assert.equal(await store().nextWakeAt(), null);
      await createSample(store(), { wakeAt: store().now() + longMs });
      const { taskId } = await createSample(store(), { wakeAt: 5000 });
      assert.equal(await store().nextWakeAt(), 5000);
      await store().remove(taskId);
      assert.ok(Number(await store().nextWakeAt()) > store().now());
    });

    it("frees a unique key when its time has passed, whether or not the record is there", async () => {
      const until = store().now() + shortMs;
      const kept = await createSample(store(), {}, { uniqueKeys: [{ key: "kept", until }] });
      const removed = await createSample(store(), {}, { uniqueKeys: [{ key: "removed", until }] });
      await store().remove(removed.taskId);
      await elapse(shortMs);
      const heir = await createSample(store(), {}, { uniqueKeys: [{ key: "kept" }, { key: "removed" }] });
      // The heir holds the key now; the end of the former holder does not free it.
      await store().remove(kept.taskId);
      const error = await assertRejects(createSample(store(), {}, { uniqueKeys: [{ key: "kept" }] }), "conflict");
      assert.equal(error.data?.taskId, heir.taskId);
    });

    it("counts `heldForMs` from the removal, and then frees the key", async () => {
      const uniqueKeys = [{ key: "minted", heldForMs: shortMs }];
      const { taskId } = await createSample(store(), {}, { uniqueKeys });
      await elapse(shortMs);
      // However long the record lived: its key has not lapsed.
      await assertRejects(createSample(store(), {}, { uniqueKeys }), "conflict");
      await store().remove(taskId);
      await elapse(shortMs / 2);
      await assertRejects(createSample(store(), {}, { uniqueKeys }), "conflict");
      // Repeated, it adds nothing.
      await store().remove(taskId);
      await elapse(shortMs / 2);
      await elapseRemovals();
      const heir = await createSample(store(), { taskId }, { uniqueKeys });
      assert.equal(heir.revision, 1);
      const error = await assertRejects(createSample(store(), {}, { uniqueKeys }), "conflict");
      assert.equal(error.data?.taskId, heir.taskId);
    });

    it("keeps a key with both times until the later of the two", async () => {
      const until = store().now() + shortMs;
      const early = await createSample(store(), {}, { uniqueKeys: [{ key: "held", until, heldForMs: longMs }] });
      const late = await createSample(
        store(),
        {},
        { uniqueKeys: [{ key: "until", until: until + longMs, heldForMs: 1 }] },
      );
      const lapsed = await createSample(store(), {}, { uniqueKeys: [{ key: "lapsed", until, heldForMs: longMs }] });
      for (const { taskId } of [early, late]) await store().remove(taskId);
      await elapse(shortMs);
      for (const key of ["held", "until"])
        await assertRejects(createSample(store(), {}, { uniqueKeys: [{ key }] }), "conflict");
      // A key that was free when the record went is not taken again.
      await store().remove(lapsed.taskId);
      await createSample(store(), {}, { uniqueKeys: [{ key: "lapsed" }] });
    });
  });

  describe("lease", () => {
    it("has one holder per name at a time", async () => {
      const held = await store().lease("sweep:a", longMs);
      assert.ok(held);
      assert.equal(await store().lease("sweep:a", longMs), undefined);
      assert.ok(await store().lease("sweep:b", longMs));
      assert.equal(await held.renew(), true);
      await held.release();
      assert.ok(await store().lease("sweep:a", longMs));
    });

    it("goes to exactly one of many who ask at once", async () => {
      const leases = await Promise.all(Array.from({ length: 20 }, () => store().lease("sweep", longMs)));
      assert.equal(leases.filter((lease) => lease !== undefined).length, 1);
    });

    it("ends by itself, and a lost one can neither be renewed nor release its heir's", async () => {
      const first = await store().lease("sweep", shortMs);
      assert.ok(first);
      await elapse(shortMs);
      const second = await store().lease("sweep", longMs);
      assert.ok(second);
      assert.equal(await first.renew(), false);
      await first.release();
      assert.equal(await store().lease("sweep", longMs), undefined);
      assert.equal(await second.renew(), true);
    });

    it("is lost when its time has passed, also when nobody took it", async () => {
      const lease = await store().lease("sweep", shortMs);
      await elapse(shortMs);
      assert.equal(await lease?.renew(), false);
    });

    it("lives on from each renewal", async () => {
      const lease = await store().lease("sweep", shortMs);
      await elapse(shortMs * 0.6);
      assert.equal(await lease?.renew(), true);
      await elapse(shortMs * 0.6);
      assert.equal(await store().lease("sweep", shortMs), undefined);
    });
  });
};

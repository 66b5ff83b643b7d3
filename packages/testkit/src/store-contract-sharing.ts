import assert from "node:assert/strict";
import type { TaskId, TaskStore } from "@taskbridge/core/store";
import { assertRejects, assertSame } from "./store-assert.ts";
import { createSample, sampleRecord } from "./store-sample.ts";
import type { StoreSuite } from "./store-suite.ts";

/** How long a change may take to be told before the test gives up; what is measured is nothing. */
const patienceMs = 5000;

interface Listener {
  readonly notified: ReadonlySet<TaskId>;
  stop(): void;
  /** Makes a change and waits until it is told, by itself or as one that may have been missed. */
  expectChange(change: Promise<{ readonly taskId: TaskId }>): Promise<void>;
}

/** Collects what a watch tells. */
const listenTo = (store: TaskStore): Listener => {
  const notified = new Set<TaskId>();
  let gaps = 0;
  let onNotified = (): void => {};
  const stop = store.watch?.((taskId) => {
    if (taskId === undefined) gaps += 1;
    else notified.add(taskId);
    onNotified();
  });
  assert.ok(stop);
  return {
    stop,
    notified,
    expectChange: async (change) => {
      const gapsBefore = gaps;
      const { taskId } = await change;
      const isAwaited = (): boolean => notified.has(taskId) || gaps > gapsBefore;
      if (isAwaited()) return;
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`the change of ${taskId} was not told within ${patienceMs} ms`)),
          patienceMs,
        );
        onNotified = () => {
          if (!isAwaited()) return;
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
};

export const testSharing = ({ describe, it, store, reopen }: StoreSuite): void => {
  if (reopen === undefined) return;

  describe("after closing and opening again", () => {
    it("still has records, payloads, keys and cursors", async () => {
      const bytes = new Uint8Array(400_000).fill(7);
      const uniqueKeys = [{ key: "plain" }, { key: "tombstone", until: store().now() + 3_600_000 }];
      const created = await createSample(
        store(),
        { wakeAt: 1, future: [1] },
        { uniqueKeys, payloads: [{ name: "input", bytes }] },
      );
      const revised = await store().revise({ ...created, message: "running" }, 1);
      const removed = await createSample(store(), {}, { uniqueKeys: [{ key: "minted", heldForMs: 3_600_000 }] });
      await store().remove(removed.taskId);
      await store().values.write("video", "5-1", undefined);
      await store().close();

      const again = await reopen();
      assertSame(await again.read(created.taskId), revised);
      assertSame(await again.due(10), [revised]);
      assert.equal(await again.read(removed.taskId), undefined);
      const payload = await again.readPayload(created.taskId, "input", { offset: 0, length: 500_000 });
      assert.ok(payload && Buffer.from(payload.bytes).equals(bytes));
      assert.equal(await again.values.read("video"), "5-1");
      for (const key of ["plain", "tombstone"]) {
        const error = await assertRejects(createSample(again, {}, { uniqueKeys: [{ key }] }), "conflict");
        assert.equal(error.data?.taskId, created.taskId);
      }
      const held = await assertRejects(createSample(again, {}, { uniqueKeys: [{ key: "minted" }] }), "conflict");
      assert.equal(held.data?.taskId, removed.taskId);
    });
  });

  describe("two handles", () => {
    it("see each other's writes at once", async () => {
      const other = await reopen();
      const created = await createSample(store());
      assertSame(await other.read(created.taskId), created);
      const revised = await other.revise({ ...created, message: "from elsewhere" }, 1);
      assertSame(await store().read(created.taskId), revised);
      await assertRejects(store().revise(created, 1), "conflict");
    });

    it("compete for keys, limits and leases as one", async () => {
      const other = await reopen();
      const records = Array.from({ length: 12 }, () => sampleRecord());
      const outcomes = await Promise.allSettled(
        records.map((record, index) =>
          createSample(index % 2 ? store() : other, record, { uniqueKeys: [{ key: "k" }] }),
        ),
      );
      assert.equal(outcomes.filter((outcome) => outcome.status === "fulfilled").length, 1);
      await assertRejects(createSample(other, {}, { maxOpenForOwner: 1 }), "limit_exceeded");
      const minted = { uniqueKeys: [{ key: "minted", heldForMs: 3_600_000 }] };
      const { taskId } = await createSample(store(), {}, minted);
      const [removal, duplicate] = await Promise.allSettled([other.remove(taskId), createSample(store(), {}, minted)]);
      assert.deepEqual([removal.status, duplicate.status], ["fulfilled", "rejected"]);
      await assertRejects(createSample(store(), {}, minted), "conflict");
      const lease = await store().lease("sweep", 3_600_000);
      assert.equal(await other.lease("sweep", 3_600_000), undefined);
      await lease?.release();
      assert.ok(await other.lease("sweep", 3_600_000));
    });

    it("tell each other of changes, where the store can watch", async () => {
      if (store().watch === undefined) return;
      const other = await reopen();
      const known = await createSample(store());
      const doomed = await createSample(store());
      const listeners = [listenTo(store()), listenTo(store())] as const;
      const [stopped, staying] = listeners;
      const creation = createSample(other);
      await Promise.all(listeners.map(({ expectChange }) => expectChange(creation)));
      await staying.expectChange(other.revise(known, 1, { durable: false }));
      stopped.stop();
      await staying.expectChange(other.remove(doomed.taskId).then(() => doomed));
      assert.equal(stopped.notified.has(doomed.taskId), false, "a listener was called after it had stopped");
      staying.stop();
    });
  });
};

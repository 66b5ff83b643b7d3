import assert from "node:assert/strict";
import { asOwnerId, type CreateOptions } from "@taskbridge/core/store";
import { assertRejects, assertSame, settleAll } from "./store-assert.ts";
import { createSample, sampleRecord } from "./store-sample.ts";
import type { StoreSuite } from "./store-suite.ts";

const alice = asOwnerId("https://issuer.example|alice");
const bob = asOwnerId("https://issuer.example|bob");

export const testLimits = ({ describe, it, store }: StoreSuite): void => {
  describe("limits", () => {
    it("refuses an owner who is full, naming the open tasks, and then has written nothing", async () => {
      const limit = { maxOpenForOwner: 2 };
      const open = [
        await createSample(store(), { owner: alice }, limit),
        await createSample(store(), { owner: alice }, limit),
      ];
      const refused = sampleRecord({ owner: alice });
      const error = await assertRejects(
        createSample(store(), refused, { ...limit, uniqueKeys: [{ key: "k" }] }),
        "limit_exceeded",
      );
      assert.equal(error.data?.scope, "owner");
      assert.deepEqual(new Set(error.data?.openTaskIds as string[]), new Set(open.map((record) => record.taskId)));
      assert.equal(await store().read(refused.taskId), undefined);
      await createSample(store(), { owner: bob }, { ...limit, uniqueKeys: [{ key: "k" }] });
    });

    it("counts a tool over all owners and names only the caller's own tasks", async () => {
      const limit = { maxOpenForTool: 2 };
      const own = await createSample(store(), { owner: alice, tool: "render" }, limit);
      await createSample(store(), { owner: bob, tool: "render" }, limit);
      const error = await assertRejects(
        createSample(store(), { owner: alice, tool: "render" }, limit),
        "limit_exceeded",
      );
      assert.equal(error.data?.scope, "tool");
      assertSame(error.data?.openTaskIds, [own.taskId]);
      await createSample(store(), { owner: alice, tool: "another" }, limit);
    });

    it("counts callers without an owner together and tells them no IDs, for those grant access", async () => {
      const limit = { maxOpenForOwner: 1 };
      await createSample(store(), { owner: alice }, limit);
      await createSample(store(), { owner: null }, limit);
      const error = await assertRejects(createSample(store(), { owner: null }, limit), "limit_exceeded");
      assertSame([error.data?.scope, error.data?.openTaskIds], ["owner", []]);
    });

    it("counts expired tasks that hold a slot but does not name them, for nobody can do anything about them", async () => {
      const limit = { maxOpenForOwner: 2 };
      const expired = await createSample(store(), { owner: alice }, limit);
      await store().revise({ ...expired, expired: true }, 1);
      const open = await createSample(store(), { owner: alice }, limit);
      const error = await assertRejects(createSample(store(), { owner: alice }, limit), "limit_exceeded");
      assertSame(error.data?.openTaskIds, [open.taskId]);
    });

    it("answers a taken key rather than a full owner, so that a repeated call finds its task", async () => {
      const options: Partial<CreateOptions> = { maxOpenForOwner: 1, uniqueKeys: [{ key: "call-1" }] };
      const first = await createSample(store(), { owner: alice }, options);
      const error = await assertRejects(createSample(store(), { owner: alice }, options), "conflict");
      assert.equal(error.data?.taskId, first.taskId);
    });

    it("frees the place of a task that gives up its slot or is removed", async () => {
      const limit = { maxOpenForOwner: 1, maxOpenForTool: 1 };
      const first = await createSample(store(), {}, limit);
      await assertRejects(createSample(store(), {}, limit), "limit_exceeded");
      await store().revise({ ...first, slotHeld: false }, 1);
      const second = await createSample(store(), {}, limit);
      await store().remove(second.taskId);
      await createSample(store(), {}, limit);
    });

    it("does not count a record without a slot, nor refuse it", async () => {
      const limit = { maxOpenForOwner: 1, maxOpenForTool: 1 };
      await createSample(store(), { slotHeld: false }, limit);
      await createSample(store(), {}, limit);
      await createSample(store(), { slotHeld: false }, limit);
    });

    it("admits no more than the limit when many come at once", async () => {
      const attempts = Array.from({ length: 20 }, () =>
        createSample(store(), { owner: alice }, { maxOpenForOwner: 3 }),
      );
      const { values, errors } = await settleAll(attempts, "limit_exceeded");
      assert.deepEqual([values.length, errors.length], [3, 17]);
    });
  });
};

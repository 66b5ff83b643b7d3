import assert from "node:assert/strict";
import { asOwnerId } from "@taskbridge/core/store";
import { assertRejects, assertSame, settleAll } from "./store-assert.ts";
import { createSample, sampleRecord } from "./store-sample.ts";
import type { StoreSuite } from "./store-suite.ts";

export const testRaces = ({ describe, it, store, reopen, elapseRemovals }: StoreSuite): void => {
  describe("races", () => {
    it("lets one of those through who take the same keys in another order, and holds up nobody", async () => {
      const handles = reopen ? [store(), await reopen()] : [store()];
      const keys = ["a", "b", "c", "\u{10000}", "\uffff"].map((key) => ({ key }));
      for (let round = 0; round < 5; round++) {
        const uniqueKeys = keys.map(({ key }) => ({ key: `${key}-${round}` }));
        const attempts = Array.from({ length: 12 }, (_, index) =>
          createSample(
            handles[index % handles.length] ?? store(),
            {},
            { uniqueKeys: index % 3 === 0 ? uniqueKeys : uniqueKeys.toReversed(), maxOpenForOwner: 100 },
          ),
        );
        const { values } = await settleAll(attempts, "conflict");
        assert.equal(values.length, 1);
      }
    });

    it("keeps the limits of owners and tools at once", async () => {
      const limits = { maxOpenForOwner: 4, maxOpenForTool: 5 };
      const attempts = Array.from({ length: 40 }, (_, index) =>
        createSample(store(), { owner: asOwnerId(`owner-${index % 3}`), tool: `tool-${index % 2}` }, limits),
      );
      await settleAll(attempts, "limit_exceeded");
      const { records } = await store().list({ operator: true }, { slotHeld: true }, undefined, 100);
      for (const member of ["owner", "tool"] as const) {
        const max = member === "owner" ? limits.maxOpenForOwner : limits.maxOpenForTool;
        for (const value of new Set(records.map((record) => record[member])))
          assert.ok(records.filter((record) => record[member] === value).length <= max, `${value}`);
      }
      assert.equal(records.length, 2 * limits.maxOpenForTool);
    });

    it("answers the repetition of a create with the task itself, also where it fills its owner's limit", async () => {
      const record = sampleRecord();
      const options = {
        uniqueKeys: [{ key: "call" }, { key: "minted", heldForMs: 3_600_000 }],
        maxOpenForOwner: 1,
        maxOpenForTool: 1,
      };
      const attempts = Array.from({ length: 6 }, () => createSample(store(), record, options));
      const { values, errors } = await settleAll(attempts, "conflict");
      assert.equal(values.length, 1);
      for (const error of errors) assert.equal(error.data?.taskId, record.taskId);
    });

    it("keeps no payload that was written while its record was removed", async () => {
      for (let round = 0; round < 10; round++) {
        const { taskId } = await createSample(store());
        const put = store().putPayload(taskId, "output", 0, new Uint8Array(100_000));
        const [written] = await Promise.allSettled([put, store().remove(taskId)]);
        if (written.status === "rejected") await assertRejects(Promise.reject(written.reason), "not_found");
        await elapseRemovals();
        await createSample(store(), { taskId });
        assert.equal(await store().readPayload(taskId, "output", { offset: 0, length: 1 }), undefined);
      }
    });

    it("lets either a revision through or the removal of the revision before, never both", async () => {
      for (let round = 0; round < 20; round++) {
        const created = await createSample(store(), { wakeAt: 1 });
        const both = [
          () => store().revise({ ...created, message: "new" }, 1),
          () => store().remove(created.taskId, 1),
        ] as const;
        const [first, second] = round % 2 === 0 ? both : ([both[1], both[0]] as const);
        const outcomes = await Promise.allSettled([first(), second()]);
        const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
        assert.equal(refused.length, 1, `round ${round}`);
        const kept = await store().read(created.taskId);
        await assertRejects(Promise.reject(refused[0]), kept === undefined ? "not_found" : "conflict");
        assert.equal(kept?.revision, kept && 2);
        await store().remove(created.taskId);
      }
    });

    it("removes once and for all what is revised at the same time", async () => {
      for (let round = 0; round < 10; round++) {
        const created = await createSample(store(), { wakeAt: 1 }, { uniqueKeys: [{ key: "plain" }] });
        const [revision] = await Promise.allSettled([
          store().revise({ ...created, message: "new" }, 1, {
            payloads: [{ name: "output", bytes: new Uint8Array(10) }],
          }),
          store().remove(created.taskId),
        ]);
        if (revision.status === "rejected") await assertRejects(Promise.reject(revision.reason), "not_found");
        assert.equal(await store().read(created.taskId), undefined);
        assertSame([await store().due(10), await store().nextWakeAt()], [[], null]);
      }
    });
  });
};

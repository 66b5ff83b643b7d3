import assert from "node:assert/strict";
import { asTaskId, type PayloadName, type TaskId } from "@taskbridge/core/store";
import { assertRejects } from "./store-assert.ts";
import { createSample } from "./store-sample.ts";
import type { StoreSuite } from "./store-suite.ts";

const KiB = 1024;

/** Bytes in which every position can be told from its neighbours, also 256 or 64 Ki further on. */
const patternOf = (length: number, seed = 0): Uint8Array => {
  const bytes = new Uint8Array(length);
  for (let index = 0; index < length; index++) bytes[index] = index + (index >> 8) * 31 + (index >> 16) * 17 + seed;
  return bytes;
};

export const testPayloads = ({ describe, it, store }: StoreSuite): void => {
  const readAll = async (taskId: TaskId, name: PayloadName, length = 1_000_000_000): Promise<Buffer | undefined> => {
    const chunk = await store().readPayload(taskId, name, { offset: 0, length });
    return chunk && Buffer.from(chunk.bytes);
  };

  const assertPayload = async (taskId: TaskId, name: PayloadName, expected: Uint8Array | undefined): Promise<void> => {
    const actual = await readAll(taskId, name);
    // Not deepEqual: its message would print megabytes.
    if (expected === undefined || actual === undefined) assert.equal(actual?.length, expected?.length);
    else
      assert.ok(actual.equals(expected), `${name}: ${actual.length} bytes differ from the ${expected.length} expected`);
  };

  describe("payloads", () => {
    it("are read by range, cut off at the end", async () => {
      const bytes = patternOf(1000);
      const { taskId } = await createSample(store(), {}, { payloads: [{ name: "output", bytes }] });
      const ranges: [number, number][] = [
        [0, 1000],
        [0, 1],
        [999, 1],
        [999, 50],
        [400, 200],
        [1000, 10],
        [5000, 10],
        [3, 0],
      ];
      for (const [offset, length] of ranges) {
        const chunk = await store().readPayload(taskId, "output", { offset, length });
        assert.deepEqual(chunk && [...chunk.bytes], [...bytes.slice(offset, offset + length)], `${offset}+${length}`);
        assert.equal(chunk?.totalBytes, 1000);
      }
    });

    it("are absent until written, and may be empty", async () => {
      const { taskId } = await createSample(store());
      assert.equal(await store().readPayload(taskId, "output", { offset: 0, length: 1 }), undefined);
      assert.equal(await store().readPayload(asTaskId("never-created"), "output", { offset: 0, length: 1 }), undefined);
      await store().putPayload(taskId, "output", 0, new Uint8Array());
      const chunk = await store().readPayload(taskId, "output", { offset: 0, length: 1 });
      assert.deepEqual([chunk?.bytes.length, chunk?.totalBytes], [0, 0]);
    });

    it("refuse a range that is none, and a write that would leave a gap", async () => {
      const { taskId } = await createSample(store(), {}, { payloads: [{ name: "output", bytes: patternOf(10) }] });
      for (const range of [
        { offset: -1, length: 1 },
        { offset: 0, length: -1 },
        { offset: 0.5, length: 1 },
        { offset: Number.NaN, length: 1 },
      ]) {
        await assertRejects(store().readPayload(taskId, "output", range), "invalid_input");
      }
      for (const offset of [11, -1, 1.5]) {
        await assertRejects(store().putPayload(taskId, "output", offset, patternOf(1)), "invalid_input");
      }
      await assertPayload(taskId, "output", patternOf(10));
    });

    it("grow to megabytes by chunks, and every range of them is exact", async () => {
      const { taskId } = await createSample(store());
      const bytes = patternOf(3 * KiB * KiB + 12_345);
      const step = 256 * KiB;
      for (let offset = 0; offset < bytes.length; offset += step) {
        await store().putPayload(taskId, "output", offset, bytes.subarray(offset, offset + step));
      }
      await assertPayload(taskId, "output", bytes);
      for (const boundary of [64 * KiB, step, KiB * KiB, 3 * KiB * KiB]) {
        for (const [offset, length] of [
          [boundary - 1, 2],
          [boundary, 1],
          [boundary - 50_000, 140_000],
        ] as const) {
          const chunk = await store().readPayload(taskId, "output", { offset, length });
          assert.ok(
            chunk && Buffer.from(chunk.bytes).equals(bytes.subarray(offset, offset + length)),
            `${offset}+${length}`,
          );
          assert.equal(chunk.totalBytes, bytes.length);
        }
      }
    });

    it("grow by odd steps, and a repeated write changes nothing", async () => {
      const { taskId } = await createSample(store());
      const bytes = patternOf(700_001);
      const step = 99_991;
      for (let offset = 0; offset < bytes.length; offset += step) {
        for (let times = 0; times < 2; times++) {
          await store().putPayload(taskId, "output", offset, bytes.subarray(offset, offset + step));
        }
      }
      await store().putPayload(taskId, "output", step, bytes.subarray(step, 2 * step));
      await assertPayload(taskId, "output", bytes);
    });

    it("are replaced by a write at offset 0, also a shorter one", async () => {
      const { taskId } = await createSample(
        store(),
        {},
        { payloads: [{ name: "output", bytes: patternOf(2_000_000) }] },
      );
      await store().putPayload(taskId, "output", 0, patternOf(5, 3));
      await assertPayload(taskId, "output", patternOf(5, 3));
      await store().putPayload(taskId, "output", 5, patternOf(300_000, 8));
      await assertPayload(taskId, "output", Buffer.concat([patternOf(5, 3), patternOf(300_000, 8)]));
    });

    it("answer `not_found` to a write without the record", async () => {
      await assertRejects(store().putPayload(asTaskId("never-created"), "output", 0, patternOf(1)), "not_found");
      const { taskId } = await createSample(store());
      await store().remove(taskId);
      await assertRejects(store().putPayload(taskId, "output", 0, patternOf(1)), "not_found");
    });

    it("are kept apart by task and by name", async () => {
      const names: PayloadName[] = ["input", "output", "secret:q1", "secret:q'\"1", "answer:q1", "answer:日本語"];
      const records = [await createSample(store()), await createSample(store())];
      for (const [at, { taskId }] of records.entries()) {
        for (const [index, name] of names.entries())
          await store().putPayload(taskId, name, 0, patternOf(20, at * 100 + index));
      }
      for (const [at, { taskId }] of records.entries()) {
        for (const [index, name] of names.entries()) await assertPayload(taskId, name, patternOf(20, at * 100 + index));
      }
    });

    it("are written, replaced and dropped with a revision", async () => {
      const payloads = (["input", "secret:a", "secret:b"] as const).map((name) => ({
        name,
        bytes: patternOf(300_000),
      }));
      const created = await createSample(store(), {}, { payloads });
      const { taskId } = created;
      await store().revise(created, 1, {
        payloads: [
          { name: "input", bytes: patternOf(10, 1) },
          { name: "answer:a", bytes: patternOf(4) },
        ],
        dropPayloads: ["secret:a", "output"],
      });
      await assertPayload(taskId, "input", patternOf(10, 1));
      await assertPayload(taskId, "answer:a", patternOf(4));
      await assertPayload(taskId, "secret:a", undefined);
      await assertPayload(taskId, "secret:b", patternOf(300_000));
      // What is dropped goes first, so that "all" with a payload means: nothing but this one.
      await store().revise(created, 2, { dropPayloads: "all", payloads: [{ name: "output", bytes: patternOf(7) }] });
      for (const name of ["input", "answer:a", "secret:b"] as const) await assertPayload(taskId, name, undefined);
      await assertPayload(taskId, "output", patternOf(7));
    });
  });
};

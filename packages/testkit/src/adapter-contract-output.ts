import assert from "node:assert/strict";
import type { ExecutionRef } from "@taskbridge/core/adapter";
import type { ContractCase } from "./adapter-contract-case.ts";
import { type Harness, verb } from "./adapter-contract-harness.ts";

export const outputCases: readonly ContractCase[] = [
  {
    name: "gives a large output in ranges that make up the whole",
    needs: ["readOutput", "inspect"],
    run: async (harness) => {
      const { ref } = await harness.start("large-output");
      const { output } = await harness.ended(ref);
      assert.equal(output?.kind, "stream", "the large output is a stream");
      const { totalBytes } = await verb(harness.adapter.readOutput)(ref, { offset: 0, length: 1 }, harness.context());
      if (output.bytes !== undefined)
        assert.equal(output.bytes, totalBytes, "the snapshot and readOutput tell one size");
      const whole = await readAll(harness, ref, totalBytes, totalBytes);
      const pieces = await readAll(harness, ref, totalBytes, Math.ceil(totalBytes / 5) + 1);
      assert.ok(whole.equals(pieces), "ranges of different sizes make up the same output");
      const text = new TextDecoder("utf-8", { fatal: true }).decode(whole);
      const value: unknown = output.mediaType === "application/json" ? JSON.parse(text) : text;
      const expected = harness.underTest.expected?.("large-output");
      if (expected !== undefined) assert.deepEqual(value, expected);
      const beyond = await verb(harness.adapter.readOutput)(ref, { offset: totalBytes, length: 10 }, harness.context());
      assert.equal(beyond.bytes.length, 0, "there is nothing behind the end");
    },
  },
  {
    name: "forgets an execution twice",
    needs: ["forget", "inspect"],
    run: async (harness) => {
      const { ref } = await harness.start("succeeds");
      await harness.ended(ref);
      await verb(harness.adapter.forget)(ref, harness.context());
      await verb(harness.adapter.forget)(ref, harness.context());
      const outcome = await harness.inspectOne(ref);
      assert.ok(
        "notFound" in outcome || "snapshot" in outcome,
        `a forgotten execution is not found, or still there: ${JSON.stringify(outcome)}`,
      );
    },
  },
];

const readAll = async (harness: Harness, ref: ExecutionRef, totalBytes: number, length: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for (let offset = 0; offset < totalBytes; ) {
    const chunk = await verb(harness.adapter.readOutput)(ref, { offset, length }, harness.context());
    assert.ok(
      chunk.bytes.length > 0 && chunk.bytes.length <= length,
      `${chunk.bytes.length} bytes for a range of ${length} at ${offset}`,
    );
    assert.equal(chunk.totalBytes, totalBytes, "the size does not change");
    chunks.push(chunk.bytes);
    offset += chunk.bytes.length;
  }
  return Buffer.concat(chunks);
};

import assert from "node:assert/strict";
import type { ExecutionRef } from "@taskbridge/core/adapter";
import type { ContractCase } from "./adapter-contract-case.ts";
import { type Stage, verb } from "./adapter-contract-stage.ts";

export const outputCases: readonly ContractCase[] = [
  {
    name: "gives a large output in ranges that make up the whole",
    needs: ["readOutput", "inspect"],
    run: async (stage) => {
      const { ref } = await stage.start("large-output");
      const { output } = await stage.ended(ref);
      assert.equal(output?.kind, "stream", "the large output is a stream");
      const { totalBytes } = await verb(stage.adapter.readOutput)(ref, { offset: 0, length: 1 }, stage.context());
      if (output.bytes !== undefined)
        assert.equal(output.bytes, totalBytes, "the snapshot and readOutput tell one size");
      const whole = await readAll(stage, ref, totalBytes, totalBytes);
      const pieces = await readAll(stage, ref, totalBytes, Math.ceil(totalBytes / 5) + 1);
      assert.ok(whole.equals(pieces), "ranges of different sizes make up the same output");
      const text = new TextDecoder("utf-8", { fatal: true }).decode(whole);
      const value: unknown = output.mediaType === "application/json" ? JSON.parse(text) : text;
      const expected = stage.underTest.expected?.("large-output");
      if (expected !== undefined) assert.deepEqual(value, expected);
      const beyond = await verb(stage.adapter.readOutput)(ref, { offset: totalBytes, length: 10 }, stage.context());
      assert.equal(beyond.bytes.length, 0, "there is nothing behind the end");
    },
  },
  {
    name: "forgets an execution twice",
    needs: ["forget", "inspect"],
    run: async (stage) => {
      const { ref } = await stage.start("succeeds");
      await stage.ended(ref);
      await verb(stage.adapter.forget)(ref, stage.context());
      await verb(stage.adapter.forget)(ref, stage.context());
      const outcome = await stage.look(ref);
      assert.ok(
        "notFound" in outcome || "snapshot" in outcome,
        `a forgotten execution is not found, or still there: ${JSON.stringify(outcome)}`,
      );
    },
  },
];

const readAll = async (stage: Stage, ref: ExecutionRef, totalBytes: number, length: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for (let offset = 0; offset < totalBytes; ) {
    const chunk = await verb(stage.adapter.readOutput)(ref, { offset, length }, stage.context());
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

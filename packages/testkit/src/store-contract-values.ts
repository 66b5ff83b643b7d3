import assert from "node:assert/strict";
import { maxValueBytes } from "@taskbridge/core/store";
import { assertRejects } from "./store-assert.ts";
import type { StoreSuite } from "./store-suite.ts";

export const testValues = ({ describe, it, store }: StoreSuite): void => {
  describe("values", () => {
    it("keeps values by name, the one written last", async () => {
      const { read, write } = store().values;
      assert.equal(await read("video"), undefined);
      assert.equal(await write("video", "1-0", undefined), true);
      assert.equal(await write("aws", "", undefined, { durable: false }), true);
      assert.equal(await write("video", '{"at":"2-0 🙂"}', "1-0", { durable: false }), true);
      assert.deepEqual([await read("video"), await read("aws")], ['{"at":"2-0 🙂"}', ""]);
    });

    it("refuses a write whose caller does not know the present value", async () => {
      const { read, write } = store().values;
      assert.equal(await write("video", "9-0", "1-0"), false);
      assert.equal(await read("video"), undefined);
      await write("video", "", undefined);
      assert.equal(await write("video", "9-0", undefined), false);
      await write("video", "2-0", "");
      assert.equal(await write("video", "1-1", ""), false);
      assert.equal(await read("video"), "2-0");
    });

    it("lets exactly one of many concurrent writers through", async () => {
      const { read, write } = store().values;
      for (const durable of [true, false]) {
        const previous = await read("video");
        const texts = Array.from({ length: 8 }, (_, index) => `${durable} ${index}`);
        const written = await Promise.all(texts.map((text) => write("video", text, previous, { durable })));
        const [winner] = texts.filter((_, index) => written[index]);
        assert.equal(written.filter(Boolean).length, 1);
        assert.equal(await read("video"), winner);
      }
    });

    it("keeps a value of 1 MiB, and refuses a longer one as `invalid_input`", async () => {
      const { read, write } = store().values;
      const longest = `${"x".repeat(maxValueBytes - 4)}🙂`;
      assert.equal(await write("box", longest, undefined), true);
      assert.equal(await read("box"), longest);
      await assertRejects(write("box", `${longest}x`, longest), "invalid_input");
      assert.equal(await write("box", "short", longest), true);
    });
  });

  describe("probe", () => {
    it("resolves, as often as it is asked and by several at once, and changes no task", async () => {
      for (let times = 0; times < 3; times++) await store().probe?.();
      await Promise.all([store().probe?.(), store().probe?.()]);
      const { records } = await store().list({ operator: true }, {}, undefined, 10);
      assert.equal(records.length, 0);
    });
  });
};

import assert from "node:assert/strict";
import type { StoreSuite } from "./store-suite.ts";

export const testDescription = ({ describe, it, store }: StoreSuite): void => {
  describe("describe", () => {
    it("says what the store is and where, in texts of one line, where it says anything", async () => {
      const told = await store().describe?.();
      if (told === undefined) return;
      assert.ok(told.kind !== "" && told.place !== "", JSON.stringify(told));
      for (const [name, text] of Object.entries(told)) assert.match(text, /^[^\n]+$/, name);
    });
  });
};

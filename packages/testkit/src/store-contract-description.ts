import assert from "node:assert/strict";
import type { StoreSuite } from "./store-suite.ts";

export const testDescription = ({ describe, it, store }: StoreSuite): void => {
  describe("describe", () => {
    it("says what the store is and where, in texts of one line, where it says anything", async () => {
      const reported = await store().describe?.();
      if (reported === undefined) return;
      assert.ok(reported.kind !== "" && reported.location !== "", JSON.stringify(reported));
      for (const [name, text] of Object.entries(reported)) assert.match(text, /^[^\n]+$/, name);
    });
  });
};

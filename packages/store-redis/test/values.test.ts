import { expect, it } from "@jest/globals";
import { describeRedis, newPrefix, openStore, sharedUrl } from "./redis-bench.ts";

describeRedis("a position of an event source", () => {
  it("comes back as it was saved, and is told from all others, whatever it holds", async () => {
    const store = await openStore({ url: await sharedUrl(), prefix: newPrefix() });
    expect(await store.values.write("video", "\ud800", undefined)).toBe(true);
    expect(await store.values.read("video")).toBe("\ud800");
    expect(await store.values.write("video", "next", "\ud801")).toBe(false);
    expect(await store.values.write("video", "next", "\ud800")).toBe(true);
  });
});

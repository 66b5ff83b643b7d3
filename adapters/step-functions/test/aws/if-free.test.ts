import { expect, it } from "@jest/globals";
import { ifFree } from "../../src/aws/if-free.ts";

it("refuses what finds no place, until there is one", async () => {
  const free = ifFree(1, "runs are awaited");
  const first = free(async () => {
    await expect(free(async () => 2)).rejects.toMatchObject({ code: "limit_exceeded", notSent: true });
    throw new Error("failed");
  });
  await expect(first).rejects.toThrow("failed");
  expect(await free(async () => 3)).toBe(3);
});

import { expect, test } from "@jest/globals";
import { inspectionMemories } from "../../src/questions/inspection-memories.ts";

test("looks the more seldom the longer nothing moves, and at once at what is new", () => {
  let now = 0;
  const memories = inspectionMemories(() => now);
  const pauseAfter = (seen: string): number => {
    memories.note("one", seen);
    const since = now;
    while (!memories.isDue("one")) now += 500;
    return now - since;
  };
  expect(memories.isDue("one")).toBe(true);
  const pauses = Array.from({ length: 7 }, () => pauseAfter("waits"));
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(pauseAfter("has moved")).toBe(1_000);
  memories.note("one", "has moved");
  memories.forget("one");
  expect([memories.isDue("one"), memories.get("one")]).toEqual([true, undefined]);
});

test("forgets what it has heard of least lately once there are too many", () => {
  const memories = inspectionMemories(() => 0);
  for (let index = 0; index < 20_000; index++) memories.note(`execution ${index}`, "waits");
  memories.note("execution 0", "waits");
  memories.note("another", "waits");
  expect(memories.get("execution 0")).toBeDefined();
  expect(memories.get("execution 1")).toBeUndefined();
  expect(memories.get("execution 2")).toBeDefined();
});

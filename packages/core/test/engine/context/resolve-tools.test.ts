import { expect, test } from "@jest/globals";
import { createTaskEngine, type TaskPolicy } from "../../../src/index.ts";
import { memoryStore } from "../../../src/memory-store.ts";
import { fakeAdapter } from "../../../src/testing.ts";

const create = (task: Partial<TaskPolicy>) =>
  createTaskEngine({
    store: memoryStore(),
    adapters: { fake: fakeAdapter().adapter },
    tools: [{ name: "job", adapter: "fake", target: { run: "job" }, task }],
  });

test.each([0, -1, 1.5, Number.NaN])("refuses an expected run time of %s", (expectedMs) => {
  expect(() => create({ expectedMs })).toThrow(
    expect.objectContaining({ code: "misconfigured", data: { path: "tools[0].task.expectedMs" } }),
  );
});

test.each([null, 1, 86_400_000])("accepts an expected run time of %s", (expectedMs) => {
  expect(create({ expectedMs }).tools.get("job")?.task.expectedMs).toBe(expectedMs);
});

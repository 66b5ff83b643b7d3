import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { localOwner } from "@taskbridge/core";
import { openConfig } from "../../src/config/open-config.ts";
import { openEngine } from "../../src/config/open-engine.ts";
import { createWorkbench, documentOf, type Workbench } from "../workbench.ts";

let bench: Workbench;
beforeAll(async () => {
  bench = createWorkbench();
  const { engine, close } = await openEngine(openConfig(bench.config));
  await engine.createTask({ tool: "wait", input: { file: "never" }, owner: localOwner, taskId: "mine-1" });
  await close();
});
afterAll(() => bench.dispose());

const tasks = (...args: string[]): string[] => ["tasks", ...args, "--config", bench.config];

test("a task is shown under an ID that can be said again, and under the one that its client minted", async () => {
  const [{ taskId }] = documentOf(await bench.run(tasks("list", "--json")))["tasks"] as [{ taskId: string }];
  expect(taskId).toMatch(/^[0-9a-f]{32}~mine-1$/);
  for (const id of [taskId, "mine-1"]) {
    expect(documentOf(await bench.run(tasks("show", id, "--json")))).toMatchObject({ taskId, state: "running" });
    expect((await bench.run(tasks("explain", id))).stdout).toContain(`${taskId}, revision`);
  }
});

test("its client's ID is enough to stop and to watch it", async () => {
  expect((await bench.run(tasks("cancel", "mine-1"))).code).toBe(0);
  const watched = await bench.run(tasks("watch", "mine-1", "--json"));
  expect(documentOf(watched)).toMatchObject({ state: "cancelled" });
});

import { renameSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createWorkbench, documentOf, type Workbench } from "../workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
});
afterAll(() => bench.dispose());

const commands = [
  ["call", "echo"],
  ["tasks", "list"],
  ["tasks", "show", "id"],
  ["tasks", "explain", "id"],
  ["serve", "--check"],
  ["doctor"],
  ["discover"],
] as const;

test("without --config, the taskbridge.yaml of the current folder is used", async () => {
  expect(await bench.run(["call", "echo", "--json"])).toMatchObject({ code: 0 });
  const list = documentOf(await bench.run(["tasks", "list", "--json"])) as { tasks: [{ taskId: string }] };
  const { taskId } = list.tasks[0];
  expect(await bench.run(["tasks", "show", taskId])).toMatchObject({ code: 0 });
  expect(await bench.run(["tasks", "explain", taskId])).toMatchObject({ code: 0 });
  expect((await bench.run(["serve", "--check"])).stdout).toMatch(/^taskbridge\.yaml: ok; /);
  expect((await bench.run(["discover"])).stderr).toContain("adapters.local: ");
  expect((await bench.run(["doctor"])).stdout).toMatch(/^ok {6}taskbridge\.yaml: the configuration can be used$/m);
});

test.each(commands)("%s: --help says so", async (...command) => {
  const { stdout } = await bench.run([...command, "--help"]);
  expect(stdout.replace(/\s+/g, " ")).toContain("(default: taskbridge.yaml in the current folder)");
});

test.each(commands)("%s: says what to give where there is none: exit code 2", async (...command) => {
  renameSync(bench.config, "elsewhere.yaml");
  const outcome = await bench.run(command);
  renameSync("elsewhere.yaml", bench.config);
  expect(outcome).toMatchObject({ code: 2, stdout: "" });
  expect(outcome.stderr).toMatch(/^give --config FILE( or --url URL)?: there is no taskbridge\.yaml in this folder\n$/);
});

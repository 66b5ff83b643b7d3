import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { configText, createWorkbench, type Workbench } from "../workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
});
afterAll(() => bench.dispose());

test("more tasks than the server takes: one sentence, and the command that lists them", async () => {
  const file = join(bench.folder, "limit.yaml");
  writeFileSync(
    file,
    `server: { wires: [2026-07-28, 2025-11-25, sep-1686, none] }\nlimits: { maxConcurrentTasksPerOwner: 1 }\n${configText}`,
  );
  const { url } = await bench.serveHere(["--port", "0", "--config", file]);
  const calling = bench.start(["call", "wait", "--input", '{"file":"limit"}', "--url", url]);
  await calling.sees(/running|1\/2/);
  for (const [wire, listing] of [
    ["2026-07-28", "2025-11-25"],
    ["2025-11-25", "2025-11-25"],
    ["sep-1686", "sep-1686"],
  ]) {
    const list = `taskbridge tasks list --url ${url} --wire ${listing}`;
    expect(await bench.run(["call", "echo", "--url", url, "--wire", wire ?? ""])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: `1 task has not ended, and the server takes no more at once; \`${list}\`, or \`taskbridge tasks list\` on its host, shows them\n`,
    });
    const [, ...args] = list.split(" ");
    expect(await bench.run(args)).toMatchObject({ code: 0, stdout: expect.stringContaining("running") });
  }
  bench.release("limit");
  expect((await calling.done).code).toBe(0);
});

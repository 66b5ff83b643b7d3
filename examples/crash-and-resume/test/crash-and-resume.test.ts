import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

const example = fileURLToPath(new URL("..", import.meta.url));
let temporary: string;

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), "taskbridge-crash-and-resume-test-"));
});
afterAll(() => rm(temporary, { recursive: true, force: true }));

test("the client finds that both tasks outlived their clients and ran once", async () => {
  const { code, output } = await run({}, "dist/start.js");
  expect(output).toMatch(/resumed \S+: run 1\ncalled again survey-\S+: run 2\n/);
  expect(output).toContain("Two clients died, and no task with them.");
  expect(code).toBe(0);
  expect(await readdir(temporary)).toEqual([]);
}, 60_000);

test("start fails with its client, and leaves nothing behind", async () => {
  const { code } = await run({ PATH: "/no-node-here" }, "dist/start.js");
  expect(code).toBe(1);
  expect(await readdir(temporary)).toEqual([]);
}, 60_000);

test("the client fails when the server is not there", async () => {
  expect((await run({}, "dist/client.js", "http://127.0.0.1:1/mcp")).code).toBe(1);
}, 30_000);

/** Resolves when everything has ended that holds the stdout or stderr of what is run: the server, too. */
async function run(env: NodeJS.ProcessEnv, ...args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, args, {
    cwd: example,
    env: { ...process.env, TMPDIR: temporary, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 50_000,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const [code] = await once(child, "close");
  return { code, output };
}

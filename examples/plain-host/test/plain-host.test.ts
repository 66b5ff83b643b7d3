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
  temporary = await mkdtemp(join(tmpdir(), "taskbridge-plain-host-test-"));
});
afterAll(() => rm(temporary, { recursive: true, force: true }));

test("the model gets the result by doing what it reads", async () => {
  const { code, output } = await run();
  expect(output).toMatch(/→ yearly_report \{"year":2026\}\n← after .* is still running/);
  expect(output).toMatch(/→ task_status \{"taskId":"\w+","waitSeconds":10\}\n← after .* has completed/);
  expect(output).toContain('The host has {"year":2026,"orders":1278} after 2 calls.');
  expect(code).toBe(0);
  expect(await readdir(temporary)).toEqual([]);
});

test("the client fails, and leaves nothing behind, when the pipeline cannot run", async () => {
  const { code, output } = await run({ PATH: join(temporary, "no-node-here") });
  expect(output).toContain("the call is answered before the pipeline ends");
  expect(code).toBe(1);
  expect(await readdir(temporary)).toEqual([]);
});

/** Resolves when everything has ended that holds the client's stdout or stderr: the server, too. */
async function run(env: NodeJS.ProcessEnv = {}): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, ["dist/client.js"], {
    cwd: example,
    env: { ...process.env, TMPDIR: temporary, ...env },
    stdio: ["ignore", "pipe", "pipe"],
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

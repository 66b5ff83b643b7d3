import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

const example = fileURLToPath(new URL("..", import.meta.url));
let temporary: string;

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), "taskbridge-cloud-workflows-test-"));
});
afterAll(() => rm(temporary, { recursive: true, force: true }));

describe("the engine", () => {
  test("runs the workflow to its end, by the printed command, and leaves nothing behind", async () => {
    const { code, stdout, stderr } = await run({}, "dist/start.js");
    expect(stderr).toContain("Publish it?\n  as: text (optional)\n  taskbridge tasks answer ");
    expect(stderr).toMatch(/\nanswered q\d+\n/);
    expect(JSON.parse(stdout)).toEqual({ file: "a.md", as: "Ada" });
    expect(code).toBe(0);
    expect(await readdir(temporary)).toEqual([]);
  }, 60_000);

  test("says that its port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const { code, stderr } = await run({}, "dist/engine.js", String(port));
    other.close();
    expect(stderr).toContain(`127.0.0.1:${port} is in use`);
    expect(code).toBe(1);
  }, 60_000);
});

/** Resolves when everything has ended that holds the stdout or stderr of what is run. */
async function run(
  env: NodeJS.ProcessEnv,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, args, {
    cwd: example,
    env: { ...process.env, TMPDIR: temporary, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 50_000,
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      output[name] += chunk;
    });
  }
  const [code] = await once(child, "close");
  return { code, ...output };
}

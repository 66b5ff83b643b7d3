import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

const example = fileURLToPath(new URL("..", import.meta.url));
let data: string;
let server: ChildProcess;
let url: string;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "taskbridge-human-approval-"));
  server = spawn(process.execPath, ["dist/server.js"], {
    cwd: example,
    env: { ...process.env, PORT: "0", RELEASE_DATA: data },
    stdio: ["ignore", "pipe", "inherit"],
  });
  url = await servedUrl(server);
}, 30_000);
afterAll(async () => {
  if (server.exitCode === null) {
    server.kill("SIGTERM");
    await once(server, "close");
  }
  await rm(data, { recursive: true, force: true });
}, 30_000);

test("the client finds that nothing is published without approval, and so does the file", async () => {
  const { code, output } = await run("dist/client.js", url);
  expect(output).toContain("2026-07-28: 1.0.0 is published, 1.1.0 and 1.2.0 are not");
  expect(output).toContain("2025-11-25: 1.0.0 is published, 1.1.0 and 1.2.0 are not");
  expect(output).toContain("Nothing was published that nobody approved.");
  expect(code).toBe(0);
  expect(await readFile(join(data, "published.log"), "utf8")).toBe("1.0.0\n1.0.0\n2.0.0\n");
}, 60_000);

test("the client fails when the server is not there", async () => {
  expect((await run("dist/client.js", "http://127.0.0.1:1/mcp")).code).toBe(1);
}, 30_000);

async function servedUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("the server's stdout is not read");
  for await (const line of createInterface({ input: stdout })) {
    const [found] = /http:\S+/.exec(line) ?? [];
    if (found === undefined) continue;
    stdout.resume();
    return found;
  }
  throw new Error("the server did not start");
}

async function run(...args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, args, { cwd: example, timeout: 50_000 });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const [code] = await once(child, "close");
  return { code, output };
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
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
  data = await mkdtemp(join(tmpdir(), "taskbridge-crash-and-resume-"));
  server = spawn(process.execPath, ["dist/server.js"], {
    cwd: example,
    env: { ...process.env, PORT: "0", SURVEY_DATA: data },
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

test("the client finds that both tasks outlived their clients and ran once", async () => {
  const { code, output } = await run("dist/client.js", url);
  expect(output).toMatch(/resumed \S+: run 1\ncalled again survey-\S+: run 2\n/);
  expect(output).toContain("Two clients died, and no task with them.");
  expect(code).toBe(0);
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

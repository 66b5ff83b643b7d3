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
  data = await mkdtemp(join(tmpdir(), "taskbridge-attach-sdk-v2-"));
  server = spawn(process.execPath, ["dist/server.js"], {
    cwd: example,
    env: { ...process.env, PORT: "0", NEWSLETTER_DATA: data },
    stdio: ["ignore", "pipe", "inherit"],
  });
  url = await servedUrl(server);
});
afterAll(async () => {
  if (server.exitCode === null) {
    server.kill("SIGTERM");
    await once(server, "close");
  }
  await rm(data, { recursive: true, force: true });
});

test("the client finds the newsletter as before, runs its pipelines as tasks and is told how they go on", async () => {
  const { code, output } = await run("dist/client.js", url);
  expect(output).toContain("count_subscribers: 3 read English");
  expect(output).toMatch(/send_issue: pushed working \d+ of 10: /);
  expect(output).toContain("send_issue: pushed completed");
  expect(output).toContain('send_issue: asked "Send \\"Tea\\" to 5 people?", sent 5');
  expect(output).toContain("find_bounces: cancelled");
  expect(output).toContain("The newsletter works as before, and its pipelines are tasks.");
  expect(code).toBe(0);
  expect((await readFile(join(data, "sent.jsonl"), "utf8")).trim().split("\n")).toHaveLength(5);
});

test("the client fails when the server is not there", async () => {
  expect((await run("dist/client.js", "http://127.0.0.1:1/mcp")).code).toBe(1);
});

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
  const child = spawn(process.execPath, args, { cwd: example, timeout: 35_000 });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const [code] = await once(child, "close");
  return { code, output };
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

const example = fileURLToPath(new URL("..", import.meta.url));
let folder: string;
let data: string;
let server: ChildProcess;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "taskbridge-housekeeping-"));
  data = await mkdtemp(join(tmpdir(), "taskbridge-housekeeping-data-"));
  await writeFile(join(folder, "hello.txt"), "hello");
  server = spawn(
    process.execPath,
    ["node_modules/taskbridge/dist/main.js", "serve", "--config", "taskbridge.yaml", "--port", "0"],
    {
      cwd: example,
      env: { ...process.env, HOUSEKEEPING_DATA: data, HOUSEKEEPING_ROOT: folder },
      stdio: ["ignore", "inherit", "pipe"],
    },
  );
  url = await listeningUrl(server);
});
afterAll(async () => {
  server.kill("SIGTERM");
  await once(server, "close");
  await Promise.all([folder, data].map((path) => rm(path, { recursive: true, force: true })));
});

test("the client finds that all pipelines do what they promise", async () => {
  const { code, output } = await run("dist/client.js", url, folder);
  expect(output).toContain("All pipelines did what they promise.");
  expect(code).toBe(0);
}, 60_000);

test("the client fails when the server is not there", async () => {
  expect((await run("dist/client.js", "http://127.0.0.1:1/mcp", folder)).code).toBe(1);
});

test("live-call shows the result of one folder, and fails for one outside the root", async () => {
  const [inside, outside] = await Promise.all([
    run("dist/live-call.js", url, "."),
    run("dist/live-call.js", url, ".."),
  ]);
  expect(inside.output).toMatch(/result +\d+ files, \d+ bytes; /);
  expect(inside.code).toBe(0);
  expect(outside.output).toContain(".. is outside the root folder");
  expect(outside.code).toBe(1);
});

async function listeningUrl({ stderr }: ChildProcess): Promise<string> {
  if (stderr === null) throw new Error("the server's stderr is not read");
  const log: string[] = [];
  for await (const line of createInterface({ input: stderr })) {
    log.push(line);
    const [, found] = /"url":"([^"]+)"/.exec(line) ?? [];
    if (found === undefined) continue;
    stderr.resume();
    return found;
  }
  throw new Error(`the server did not start:\n${log.join("\n")}`);
}

async function run(...args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, args, { cwd: example });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const [code] = await once(child, "close");
  return { code, output };
}

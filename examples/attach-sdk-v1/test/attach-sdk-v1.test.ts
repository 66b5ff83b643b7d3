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
  data = await mkdtemp(join(tmpdir(), "taskbridge-attach-sdk-v1-"));
  server = spawn(process.execPath, ["dist/server.js"], {
    cwd: example,
    env: { ...process.env, PORT: "0", SHOP_DATA: data },
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

test("the client finds the shop as before and runs its pipelines as tasks", async () => {
  const { code, output } = await run("dist/client.js", url);
  expect(output).toContain("find_product: Blue mug 1200, Red mug 1250");
  expect(output).toMatch(/reprice: working, \d of 5: /);
  expect(output).toContain('reprice: asked "Change 5 prices by 10 %?", changed 5 prices');
  expect(output).toContain("import_stock: cancelled");
  expect(output).toContain("The shop works as before, and its pipelines are tasks.");
  expect(code).toBe(0);
  const products: { cents: number }[] = JSON.parse(await readFile(join(data, "products.json"), "utf8"));
  expect(products.map(({ cents }) => cents)).toEqual([1320, 1375, 4290, 869, 759]);
});

test("the client fails when the server is not there", async () => {
  expect((await run("dist/client.js", "http://127.0.0.1:1/mcp")).code).toBe(1);
});

test("the server is for its own host, and has sessions", async () => {
  const { origin } = new URL(url);
  expect((await fetch(`${origin}/other`)).status).toBe(404);
  expect((await fetch(url, { headers: { "mcp-session-id": "unknown" } })).status).toBe(404);
  expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(406);
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

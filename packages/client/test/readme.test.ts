import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "@jest/globals";
import { atEnd, endAll, serve } from "./serve.ts";

afterEach(endAll);

const here = fileURLToPath(new URL("..", import.meta.url));

test("the usage in the README runs as pasted", async () => {
  const readme = await readFile(join(here, "README.md"), "utf8");
  expect(readme.split("\n").length).toBeLessThanOrEqual(120);
  const [, usage = ""] = /```ts\n(.+?)```/s.exec(readme) ?? [];
  const tools = [{ name: "count", adapter: "fake", target: { run: "quick" }, task: { support: "required" as const } }];
  const { url } = await serve({ tools });
  // Inside the package, where its own name and its SDKs are found.
  await mkdir(join(here, ".cache"), { recursive: true });
  const folder = await mkdtemp(join(here, ".cache", "readme-"));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "usage.mjs");
  await writeFile(file, `${usage.replace("http://127.0.0.1:3000/mcp", url)}\nprocess.exit();\n`);
  const child = spawn(process.execPath, [file], { timeout: 30_000 });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = await once(child, "close");
  expect(output).toMatch(/^task \S+$/m);
  expect(output).toContain("completed");
  expect(output).toContain('{"quick":true}');
  expect(code).toBe(0);
}, 40_000);

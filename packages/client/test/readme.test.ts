import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "@jest/globals";
import type { TaskServerOptions } from "@taskbridge/server";
import { atEnd, endAll, serve } from "./serve.ts";

afterEach(endAll);

const here = fileURLToPath(new URL("..", import.meta.url));

const readme = (): Promise<string> => readFile(join(here, "README.md"), "utf8");

test.each<[string, NonNullable<TaskServerOptions["wires"]>, boolean]>([
  ["2026-07-28", ["2026-07-28", "none"], true],
  ["2025-11-25", ["2025-11-25", "none"], false],
  ["sep-1686", ["sep-1686"], false],
])(
  "the usage in the README runs as pasted, and ends: %s",
  async (_wire, wires, modern) => {
    const [, usage = ""] = /```ts\n(.+?)```/s.exec(await readme()) ?? [];
    const tools = [{ name: "count", adapter: "fake", target: { run: "ask" }, task: { pollIntervalMs: 50 } }];
    const { url } = await serve({ tools, wires });
    // Inside the package, where its own name and its SDKs are found.
    await mkdir(join(here, ".cache"), { recursive: true });
    const folder = await mkdtemp(join(here, ".cache", "readme-"));
    atEnd(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, "usage.mjs");
    const connected = modern ? usage : usage.replace('mode: "auto"', 'mode: "legacy"');
    await writeFile(file, connected.replace("http://127.0.0.1:3000/mcp", url));
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
    expect(output).toContain('{"answered":{"ok":true}}');
    expect(code).toBe(0);
  },
  40_000,
);

// Drives all three pipelines of a running server and checks what comes back. Exits non-zero when anything is wrong.
//   node dist/client.js [URL] [ROOT]      ROOT: the server's HOUSEKEEPING_ROOT (default: this folder)
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { connectTaskHost, type Task } from "./task-host.ts";

const [url = "http://127.0.0.1:3000/mcp", root = "."] = process.argv.slice(2);
const host = await connectTaskHost(new URL(url));
const cache = resolve(root, ".cache");
await mkdir(cache, { recursive: true });
const path = await mkdtemp(join(cache, "client-"));
const folder = `.cache/${basename(path)}`;
try {
  const digests = await hashFolder();
  await verifyFolder(digests);
  await cleanUp();
  console.log("All pipelines did what they promise.");
} finally {
  await rm(path, { recursive: true, force: true });
  await host.close();
}

async function hashFolder(): Promise<unknown> {
  await writeFile(join(path, "a.txt"), "alpha");
  await writeFile(join(path, "b.txt"), "beta!");
  const statuses: Task["status"][] = [];
  const result = await host.callTool("hash_folder", { folder }, { onStatus: ({ status }) => statuses.push(status) });
  assert.equal(statuses[0], "working", "a call is a task at once");
  assert.equal(statuses.at(-1), "completed");
  const hashed = result.structuredContent as { files: number; totalBytes: number; digests: Record<string, string> };
  assert.deepEqual([hashed.files, hashed.totalBytes], [2, 10]);
  assert.equal(hashed.digests["a.txt"], "8ed3f6ad685b959ead7022518e1af76cd816f8e8ec7ccdda1ed4018e8f2223f8");
  console.log(`hash_folder: ${hashed.files} files, ${hashed.totalBytes} bytes`);
  return hashed.digests;
}

async function verifyFolder(digests: unknown): Promise<void> {
  const same = await host.callTool("verify_folder", { folder, digests });
  assert.equal(same.isError ?? false, false, textOf(same));
  await writeFile(join(path, "a.txt"), "omega");
  const changed = await host.callTool("verify_folder", { folder, digests });
  assert.equal(changed.isError, true, "a changed file makes the pipeline fail");
  assert.match(textOf(changed), /1 files differ, such as changed: a\.txt/);
  console.log(`verify_folder: ${textOf(changed).split("\n")[0]}`);
}

async function cleanUp(): Promise<void> {
  await writeFile(join(path, "old.tmp"), "x".repeat(1_000));
  await writeFile(join(path, "old.txt~"), "y");
  const asked: string[] = [];
  const answer = (ok: boolean) => (message: string) => {
    asked.push(message);
    return { action: "accept" as const, content: { ok } };
  };

  const refused = await host.callTool("clean_up", { folder }, { onQuestion: answer(false) });
  assert.deepEqual(JSON.parse(textOf(refused)), { found: 2, deleted: 0, freedBytes: 0 });
  assert.equal((await readdir(path)).length, 4, "nothing is deleted without consent");

  const done = await host.callTool("clean_up", { folder }, { onQuestion: answer(true) });
  assert.deepEqual(JSON.parse(textOf(done)), { found: 2, deleted: 2, freedBytes: 1_001 });
  assert.deepEqual(await readdir(path), ["a.txt", "b.txt"]);
  assert.equal(asked.length, 2, "each call asks once");
  console.log(`clean_up: asked "${asked[0]}"`);
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

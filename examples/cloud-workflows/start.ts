// Runs the workflow in an engine of its own by one `taskbridge call`. On a terminal that asks you; elsewhere the command
// that it prints is run. The exit code is that of the call.
//   node dist/start.js
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { openEngine } from "./open-engine.ts";

const cli = "node_modules/taskbridge/dist/main.js";
const data = await mkdtemp(join(tmpdir(), "taskbridge-cloud-workflows-"));
const stopping = new AbortController();
// Ctrl-C reaches the call through the terminal; what comes after is to be cleaned up here all the same.
process.on("SIGINT", () => {}).on("SIGTERM", () => stopping.abort());
try {
  const engine = await openEngine();
  try {
    process.exitCode = await callPublish({ ...process.env, GCW_DATA: data, GCW_ENDPOINT: engine.url });
  } finally {
    await engine.close();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await rm(data, { recursive: true, force: true, maxRetries: 5 });
}

async function callPublish(env: NodeJS.ProcessEnv): Promise<number> {
  const words = [cli, "call", "publish", "--input", '{"file":"a.md"}', "--config", "taskbridge.yaml"];
  const isAsked = process.stdin.isTTY === true && process.stderr.isTTY === true;
  const calling = spawn(process.execPath, words, {
    env,
    stdio: ["inherit", "inherit", isAsked ? "inherit" : "pipe"],
  });
  stopping.signal.addEventListener("abort", () => calling.kill());
  const ended = once(calling, "close");
  if (calling.stderr !== null) await answer(calling.stderr, env);
  const [code] = await ended;
  return code ?? 1;
}

/** Runs the command that the call prints for its question. Resolves once the call has nothing more to say. */
async function answer(reported: Readable, env: NodeJS.ProcessEnv): Promise<void> {
  const answering: Promise<unknown>[] = [];
  for await (const line of createInterface({ input: reported })) {
    console.error(line);
    const [, command] = /^ +taskbridge (tasks answer \S+ --config \S+)/.exec(line) ?? [];
    if (command === undefined) continue;
    const words = [cli, ...command.split(" "), "--input", '{"as":"Ada"}'];
    // Stdout is for the result.
    answering.push(
      once(spawn(process.execPath, words, { env, stdio: ["ignore", process.stderr, "inherit"] }), "close"),
    );
  }
  await Promise.all(answering);
}

// Serves the releases on a free port and runs the client against them; on a terminal, asks you about one more. Ends both.
//   node dist/start.js
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

const data = await mkdtemp(join(tmpdir(), "taskbridge-human-approval-"));
const server = spawn(process.execPath, ["dist/server.js"], {
  env: { ...process.env, PORT: "0", RELEASE_DATA: data },
  stdio: ["ignore", "pipe", "inherit"],
  detached: true,
});
const stopped = once(server, "close");
let running: ChildProcess = server;
// Ctrl-C reaches the clients through the terminal: they cancel what they have begun, which takes the server. It has a
// process group of its own, so that it stays until they have.
const onInterrupt = (): void => {
  if (running === server) server.kill(); // there is no client yet
};
process.on("SIGINT", onInterrupt).on("SIGTERM", () => running.kill());
try {
  const url = await servedUrl(server.stdout);
  await run("dist/client.js", url);
  if (process.exitCode === 0 && process.stdin.isTTY) await run("dist/release.js", url, "3.0.0");
} finally {
  server.kill();
  await stopped;
  await rm(data, { recursive: true, force: true, maxRetries: 5 });
}

async function run(...args: string[]): Promise<void> {
  running = spawn(process.execPath, args, { stdio: "inherit" });
  const [code] = await once(running, "close");
  process.exitCode = code ?? 1;
}

async function servedUrl(output: Readable): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [url] = /http:\S+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("the server did not start");
}

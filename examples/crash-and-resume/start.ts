// Serves the survey on a free port, runs the client against it, and ends both. The exit code is the client's.
//   node dist/start.js
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

const data = await mkdtemp(join(tmpdir(), "taskbridge-crash-and-resume-"));
const server = spawn(process.execPath, ["dist/server.js"], {
  env: { ...process.env, PORT: "0", SURVEY_DATA: data },
  stdio: ["ignore", "pipe", "inherit"],
});
const stopped = once(server, "close");
let running: ChildProcess = server;
// Ctrl-C reaches the others through the terminal; what comes after is to be cleaned up here all the same.
process.on("SIGINT", () => {}).on("SIGTERM", () => running.kill());
try {
  const url = await servedUrl(server.stdout);
  running = spawn(process.execPath, ["dist/client.js", url], { stdio: "inherit" });
  const [code] = await once(running, "close");
  process.exitCode = code ?? 1;
} finally {
  server.kill();
  await stopped;
  await rm(data, { recursive: true, force: true, maxRetries: 5 });
}

async function servedUrl(output: Readable): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [url] = /http:\S+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("the server did not start");
}

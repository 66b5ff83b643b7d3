import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../workspace/run.mjs";

const startMs = 30_000;
/** Its jobs get 10 s to end, and so does it. */
const stopMs = 25_000;

/**
 * Starts the server that the suite is run against.
 * @param {string} folder For everything it writes; made.
 * @param {AbortSignal} signal Gives the start up.
 * @returns {Promise<{ url: string, isRunning: () => boolean, stop: () => Promise<void> }>}
 */
export async function startFixture(folder, signal) {
  mkdirSync(folder, { recursive: true });
  const script = join(root, "packages", "server", "test", "conformance", "server.mjs");
  const child = spawn(process.execPath, [script, folder], { stdio: ["pipe", "pipe", "inherit"] });
  const gone = once(child, "close");
  const stop = async () => {
    child.stdin.end();
    const kill = setTimeout(() => child.kill("SIGKILL"), stopMs);
    await gone;
    clearTimeout(kill);
  };
  try {
    const over = AbortSignal.any([signal, AbortSignal.timeout(startMs)]);
    const line = once(createInterface({ input: child.stdout }), "line", { signal: over });
    const [url] = await Promise.race([line, gone.then(() => [])]);
    if (url === undefined) throw new Error(`the server under test ended before it listened (exit ${child.exitCode})`);
    return { url, isRunning: () => child.exitCode === null && child.signalCode === null, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

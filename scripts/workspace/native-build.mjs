import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "./run.mjs";

// better-sqlite3 downloads a prebuilt binding or, where it cannot, compiles one with node-gyp.

/** @returns {Record<string, string>} The environment for node-gyp. */
export function compileEnvironment() {
  const prefix = headersPrefix();
  const headers = prefix === undefined || process.env.npm_config_nodedir ? {} : { npm_config_nodedir: prefix };
  return { JOBS: "max", ...headers };
}

/**
 * Where Node's own headers are, so that node-gyp need not download them. Headers of another Node (a distribution's, beside
 * a Node installed by hand) would compile a binding that does not load.
 */
function headersPrefix() {
  const prefix = dirname(dirname(process.execPath));
  const versionHeader = join(prefix, "include", "node", "node_version.h");
  if (!existsSync(versionHeader)) return undefined;
  const abi = /#define NODE_MODULE_VERSION (\d+)/.exec(readFileSync(versionHeader, "utf8"))?.[1];
  return abi === process.versions.modules ? prefix : undefined;
}

/** @returns {string[]} What a compile needs and this machine lacks. */
export function missingBuildTools() {
  const alternatives = { python3: ["python3", "python"], make: ["make", "gmake"], "g++": ["g++", "c++", "clang++"] };
  if (process.platform === "win32") return [];
  return Object.entries(alternatives)
    .filter(([, programs]) => !programs.some(works))
    .map(([name]) => name);
}

/** @returns {boolean} Whether we may and can install Debian packages ourselves. */
export function canInstallDebianPackages() {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version") && works("apt-get");
}

/**
 * @param {readonly string[]} packages Debian package names.
 */
export async function installDebianPackages(packages) {
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const update = await run("apt-get", ["update", "-qq"], { env, quiet: true });
  if (update.code !== 0) console.error(update.output.trimEnd());
  const install = await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], {
    env,
    quiet: true,
  });
  if (install.code !== 0) console.error(install.output.trimEnd());
}

/**
 * Runs it: a version manager's shim may be on PATH with nothing behind it.
 * @param {string} program
 */
function works(program) {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
}

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the whole repository. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/**
 * @typedef {object} RunOptions
 * @property {Record<string, string | undefined>} [env] Added to our own environment.
 * @property {boolean} [quiet] Hold the output back instead of showing it.
 * @property {string} [cwd] Default: the repository.
 */

/**
 * Runs a program and waits for it. Ctrl-C reaches the child through the terminal's process group; we stay to pass on
 * its exit code.
 * @param {string} command A program on PATH or in the workspace's `node_modules/.bin`.
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<{ code: number, output: string }>} `output` is filled when `quiet`.
 */
export function run(command, args, { env = {}, quiet = false, cwd = root } = {}) {
  const ignoreInterrupt = () => {};
  process.on("SIGINT", ignoreInterrupt);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...toolEnvironment(), ...env },
      stdio: quiet ? ["ignore", "pipe", "pipe"] : "inherit",
      shell: process.platform === "win32",
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk) => {
        output += chunk;
      });
    }
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.off("SIGINT", ignoreInterrupt);
      resolve({ code: code ?? (signal === "SIGINT" ? 130 : 1), output });
    });
  });
}

/**
 * pnpm in the version that package.json names, fetched by npx so that nothing but Node and npm has to be there.
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 */
export function pnpm(args, options) {
  return run("npx", ["--yes", packageManager, ...args], options);
}

/**
 * turbo starts each package's script with the `pnpm` on PATH, and npx puts ours there.
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 */
export function turbo(args, options) {
  return run("npx", ["--yes", `--package=${packageManager}`, "--", "turbo", ...args], options);
}

function toolEnvironment() {
  return {
    PATH: [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter),
    TURBO_TELEMETRY_DISABLED: "1",
    TURBO_NO_UPDATE_NOTIFIER: "1",
  };
}

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  canInstallDebianPackages,
  compileEnvironment,
  installDebianPackages,
  missingBuildTools,
} from "./native-build.mjs";
import { workspacePackages } from "./packages.mjs";
import { pnpm, root, run } from "./run.mjs";

const stampFile = join(root, "node_modules", ".taskbridge-installed");

/**
 * Brings `node_modules` to what the lockfile says, with a better-sqlite3 that loads. Returns at once when it already is;
 * ends the process with a reason when it cannot be done.
 */
export async function install() {
  refuseOldNode();
  const stamp = installStamp();
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  console.log("Installing dependencies (better-sqlite3 may have to be compiled: a minute or two) …");
  const firstProblem = await installOnce();
  const problem = firstProblem && (await installWithTools(firstProblem));
  if (problem) {
    console.error(problem);
    process.exit(1);
  }
  await requireNativeBinding();
  writeFileSync(stampFile, stamp);
}

/** @returns {Promise<string>} Why it failed, or nothing. On a terminal pnpm shows its own progress and errors. */
async function installOnce() {
  const quiet = !process.stdout.isTTY;
  const { code, output } = await pnpm(["install", "--frozen-lockfile"], { env: compileEnvironment(), quiet });
  return code === 0 ? "" : `${output.split("\n").slice(-60).join("\n").trimEnd()}\npnpm install failed (exit ${code}).`;
}

/**
 * Tries again with the build tools that were missing, if any were and we may install them.
 * @param {string} problem Why the first try failed.
 * @returns {Promise<string>} Why it still fails, or nothing.
 */
async function installWithTools(problem) {
  const missing = missingBuildTools();
  if (missing.length === 0) return problem;
  const names = missing.join(", ");
  if (!canInstallDebianPackages()) {
    return `${problem}
better-sqlite3 needs a C++ toolchain where no prebuilt binary can be downloaded. Missing here: ${names}.
Install that (Debian, Ubuntu: apt-get install python3 make g++) and run this again.`;
  }
  console.log(`Installing ${names} with apt-get to compile better-sqlite3 …`);
  await installDebianPackages(missing);
  return installOnce();
}

/** An install made with another Node, or with `ignore-scripts`, leaves a binding that does not load. */
async function requireNativeBinding() {
  const folder = workspacePackages().find(({ manifest }) => manifest.dependencies?.["better-sqlite3"])?.folder;
  if (folder === undefined) return;
  const load = () =>
    run(process.execPath, ["-e", "new (require('better-sqlite3'))(':memory:').close()"], {
      cwd: join(root, folder),
      quiet: true,
    });
  if ((await load()).code === 0) return;
  const rebuild = await pnpm(["--recursive", "rebuild", "better-sqlite3"], { env: compileEnvironment(), quiet: true });
  const again = await load();
  if (again.code === 0) return;
  console.error(`${rebuild.output}\n${again.output}`.trim());
  console.error(`\nbetter-sqlite3 was installed but does not load with Node ${process.version}.`);
  process.exit(1);
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`taskbridge needs Node 20.19 or newer; this is ${process.version}.`);
  process.exit(1);
}

/** What decides whether an install is up to date: the lockfile, the manifests, and the Node that native code was built for. */
function installStamp() {
  const hash = createHash("sha256");
  const manifests = workspacePackages().map(({ folder }) => join(folder, "package.json"));
  for (const file of ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests]) {
    hash.update(file).update(readFileSync(join(root, file)));
  }
  return `${hash.digest("hex")} ${process.platform}-${process.arch} abi ${process.versions.modules}\n`;
}

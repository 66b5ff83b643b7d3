// Packs every published package as it would be uploaded and checks that its exports and types resolve, and that it has the scripts and
// statements that its code reads.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { install } from "./workspace/install.mjs";
import { workspacePackages } from "./workspace/packages.mjs";
import { pnpm, root, run, turbo } from "./workspace/run.mjs";

await install();
const build = await turbo(["run", "build", "--output-logs=errors-only"]);
if (build.code !== 0) process.exit(build.code);

const target = mkdtempSync(join(tmpdir(), "taskbridge-pack-"));
let failures = 0;
try {
  // All with one pnpm, private ones as well: it takes longer to start than to pack.
  const packed = await pnpm(["pack", "--recursive", "--pack-destination", target], { quiet: true });
  if (packed.code !== 0) throw new Error(packed.output);
  for (const { folder, manifest } of workspacePackages().filter(({ manifest }) => !manifest.private)) {
    const problems = await checkPackage(folder, manifest);
    if (problems === "") {
      console.log(`ok      ${manifest.name}`);
    } else {
      failures += 1;
      console.log(`FAILED  ${manifest.name}\n${problems}`);
    }
  }
} finally {
  rmSync(target, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

/**
 * @param {string} folder
 * @param {import("./workspace/packages.mjs").Manifest} manifest
 * @returns {Promise<string>} What is wrong, or nothing.
 */
async function checkPackage(folder, { name, version, exports, files = [] }) {
  const tarball = join(target, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  // A package that only brings a program has no entry point to resolve.
  const hasEntryPoints = Object.keys(exports ?? {}).some((path) => path !== "./package.json");
  const checks = await Promise.all([
    run("publint", ["run", tarball, "--strict"], { quiet: true }),
    ...(hasEntryPoints ? [run("attw", [tarball, "--profile", "esm-only"], { quiet: true })] : []),
  ]);
  const unpacked = ["lua", "sql"].filter((part) => existsSync(join(root, folder, part)) && !files.includes(part));
  const missing = unpacked.map((part) => `the folder ${part} is not among "files" in its package.json\n`);
  return [...missing, ...checks.map(({ code, output }) => (code === 0 ? "" : output))].join("");
}

// Packs every published package as it would be uploaded and checks that its exports and types resolve.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
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
async function checkPackage(folder, manifest) {
  const destination = mkdtempSync(join(target, "package-"));
  const packed = await pnpm(["pack", "--pack-destination", destination], { cwd: join(root, folder), quiet: true });
  const tarball = readdirSync(destination).find((name) => name.endsWith(".tgz"));
  if (packed.code !== 0 || tarball === undefined) return packed.output;

  const file = join(destination, tarball);
  // A package that only brings a program has no entry point to resolve.
  const hasEntryPoints = Object.keys(manifest.exports ?? {}).some((path) => path !== "./package.json");
  const checks = await Promise.all([
    run("publint", ["run", file, "--strict"], { quiet: true }),
    ...(hasEntryPoints ? [run("attw", [file, "--profile", "esm-only"], { quiet: true })] : []),
  ]);
  return checks.map(({ code, output }) => (code === 0 ? "" : output)).join("");
}

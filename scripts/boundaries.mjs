// Checks every import of every package against scripts/layering/layers.mjs and the package's declared dependencies.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { install } from "./workspace/install.mjs";
import { readManifest, workspacePackages } from "./workspace/packages.mjs";
import { root } from "./workspace/run.mjs";

await install();
const { checkImports } = await import("./layering/check-imports.mjs");
const { readImports } = await import("./layering/read-imports.mjs");

const workspace = readManifest(".");
let fileCount = 0;
let importCount = 0;
const violations = workspacePackages()
  // The workspace's own settings and their tests reach the root scripts.
  .filter(({ folder }) => folder !== "packages/config")
  .flatMap(({ folder, manifest }) => {
    const files = sourceFiles(folder).map((path) => ({ path, imports: readFileImports(path) }));
    fileCount += files.length;
    importCount += files.reduce((sum, { imports }) => sum + imports.length, 0);
    return checkImports(folder, manifest, files, workspace);
  });

for (const violation of violations) console.error(violation);
console.log(`boundaries: ${importCount} imports in ${fileCount} files, ${violations.length} refused`);
process.exitCode = violations.length === 0 ? 0 : 1;

/** @param {string} folder */
function sourceFiles(folder) {
  const locations = folder.startsWith("examples/") ? [""] : ["src", "test"];
  return locations
    .map((location) => join(folder, location))
    .filter((location) => existsSync(join(root, location)))
    .flatMap((location) =>
      readdirSync(join(root, location), { recursive: true, encoding: "utf8" }).map((name) => join(location, name)),
    )
    .map((path) => path.split(sep).join("/"))
    .filter((path) => /\.(ts|mts|mjs|js)$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path));
}

/** @param {string} path */
function readFileImports(path) {
  try {
    return readImports(readFileSync(join(root, path), "utf8"));
  } catch (error) {
    throw new Error(`${path} cannot be parsed`, { cause: error });
  }
}

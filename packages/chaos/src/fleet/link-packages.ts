import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { compiledProgram } from "./compiled-program.ts";

/** Packages that a configuration names. */
const adapter = "@taskbridge/adapter-bullmq";
const stores = ["@taskbridge/store-postgres", "@taskbridge/store-redis", "@taskbridge/store-sqlite"] as const;

const require = createRequire(import.meta.url);

/** Where a package is. */
export type FindPackage = (name: string) => string;

export const folderOfPackage: FindPackage = (name) => dirname(require.resolve(`${name}/package.json`));

/** The same in another checkout, which has been built. */
export const packagesOf =
  (checkout: string): FindPackage =>
  (name) =>
    dirname(createRequire(join(checkout, "packages/chaos/package.json")).resolve(`${name}/package.json`));

/** Has the packages as if they were installed beside a configuration in this folder. */
export const linkPackages = async (folder: string, find: FindPackage = folderOfPackage): Promise<void> => {
  for (const name of [adapter, ...stores]) await link(folder, name, find);
};

/** Likewise, with the stores of the next version. */
export const linkNextVersion = async (folder: string): Promise<void> => {
  await link(folder, adapter);
  const program = JSON.stringify(pathToFileURL(compiledProgram("next-version-store.js")).href);
  for (const name of stores) {
    const path = join(folder, "node_modules", name);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "package.json"), JSON.stringify({ name, type: "module", exports: "./index.js" }));
    await writeFile(join(path, "index.js"), `export { createStore } from ${program};\n`);
  }
};

const link = async (folder: string, name: string, find: FindPackage = folderOfPackage): Promise<void> => {
  const path = join(folder, "node_modules", name);
  await mkdir(dirname(path), { recursive: true });
  await symlink(find(name), path);
};

import { existsSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** A package of a clone that was not built, and where to build it. */
export interface UnbuiltLink {
  readonly package: string;
  /** The folder of the workspace. */
  readonly clone: string;
}

/** Whether a module is missing because its package is a link into a clone of a workspace that was never built. */
export const findUnbuiltLink = (url: string): UnbuiltLink | undefined => {
  const file = url.startsWith("file:") ? fileURLToPath(url) : undefined;
  if (file === undefined || existsSync(file)) return undefined;
  const real = realpathSync(ancestors(file).find(existsSync) ?? sep);
  const folder = ancestors(join(real, "package.json")).find((path) => existsSync(join(path, "package.json")));
  // An installed copy lacks what its author left out: building here would not help.
  if (folder === undefined || folder.split(sep).includes("node_modules")) return undefined;
  const clone = ancestors(folder).find((path) => existsSync(join(path, "pnpm-workspace.yaml")));
  return clone === undefined ? undefined : { package: folder, clone };
};

/** The folders above, the nearest first. */
const ancestors = (path: string): readonly string[] => {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestors(parent)];
};

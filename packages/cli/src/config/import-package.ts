import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { resolve as resolveFrom } from "import-meta-resolve";
import { findUnbuiltLink } from "./unbuilt-link.ts";

export type ImportOutcome =
  | { readonly name: string; readonly exports: Readonly<Record<string, unknown>> }
  | { readonly fault: string };

/**
 * Imports the first of these packages that is installed: for the configuration file's folder, or else for the CLI. One
 * that is there and does not load ends the search. `hint`: what to do where none is installed.
 */
export const importPackage = async (
  names: readonly string[],
  directory: string,
  hint?: string,
): Promise<ImportOutcome> => {
  for (const name of names) {
    for (const parent of [pathToFileURL(join(directory, "taskbridge.yaml")).href, import.meta.url]) {
      const url = resolvePackage(name, parent);
      if (url === undefined) continue;
      try {
        return { name, exports: await import(url) };
      } catch (error) {
        return { fault: `${name} does not load: ${toReason(error, url)}` };
      }
    }
  }
  const [first, second] = names;
  const absent = second === undefined ? `${first} is not installed` : `neither ${first} nor ${second} is installed`;
  return { fault: hint === undefined ? absent : `${absent}; ${hint}` };
};

const toReason = (error: unknown, url: string): string => {
  const unbuilt = findUnbuiltLink(url);
  if (unbuilt !== undefined)
    return `it is a link to ${unbuilt.package}, which is not built; run "npm run build" in ${unbuilt.clone}`;
  return error instanceof Error ? error.message : String(error);
};

const resolvePackage = (name: string, parent: string): string | undefined => {
  try {
    return resolveFrom(name, parent);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ERR_MODULE_NOT_FOUND" || code === "ERR_INVALID_MODULE_SPECIFIER") return undefined;
    throw error;
  }
};

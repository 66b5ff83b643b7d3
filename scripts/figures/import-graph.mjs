import { posix } from "node:path";
import { readImports } from "../layering/read-imports.mjs";

/**
 * Which file imports which by a relative path; type imports count.
 * @param {readonly { path: string, source: string }[]} files
 * @returns {Map<string, string[]>} From each file of TypeScript or JavaScript to what it imports, each once.
 */
export function importGraph(files) {
  return new Map(
    files
      .filter(({ path }) => /\.m?[jt]s$/.test(path))
      .map(({ path, source }) => {
        const relative = readImports(source).filter(({ specifier }) => specifier.startsWith("."));
        const targets = relative.map(({ specifier }) => posix.join(posix.dirname(path), specifier));
        return [path, [...new Set(targets)]];
      }),
  );
}

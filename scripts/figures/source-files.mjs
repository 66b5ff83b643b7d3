import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { workspacePackages } from "../workspace/packages.mjs";
import { root } from "../workspace/run.mjs";
import { trackedFiles } from "../workspace/tracked-files.mjs";
import { codeExtensions, codeLines } from "./code-lines.mjs";

/**
 * @typedef {object} SourceFile
 * @property {string} path Relative to the repository.
 * @property {string} owner The folder of its package, or `.` for the files of the workspace itself.
 * @property {"published" | "private" | "tests"} kind Whatever is not in a `test` folder counts as its package does.
 * @property {string} source
 * @property {readonly import("./code-lines.mjs").CodeLine[]} code
 */

/** @returns {SourceFile[]} Every tracked file of code. */
export function sourceFiles() {
  const packages = workspacePackages();
  return trackedFiles()
    .filter((path) => codeExtensions.includes(extname(path)))
    .map((path) => {
      const found = packages.find(({ folder }) => path.startsWith(`${folder}/`));
      const isPrivate = found === undefined || found.manifest.private === true;
      const kind = path.split("/").includes("test") ? "tests" : isPrivate ? "private" : "published";
      const source = readFileSync(join(root, path), "utf8");
      return { path, owner: found?.folder ?? ".", kind, source, code: codeLines(path, source) };
    });
}

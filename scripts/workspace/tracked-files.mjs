import { execFileSync } from "node:child_process";
import { root } from "./run.mjs";

/** @returns {string[]} The paths, relative to the repository, of all files that Git tracks and that are there. */
export function trackedFiles() {
  const deleted = new Set(listFiles("--deleted"));
  return listFiles("--cached", "--deduplicate").filter((path) => !deleted.has(path));
}

/** @param {string[]} flags */
function listFiles(...flags) {
  const list = execFileSync("git", ["ls-files", "-z", ...flags], { cwd: root, encoding: "utf8" });
  return list.split("\0").filter((path) => path !== "");
}

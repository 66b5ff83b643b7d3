// Fails when a file of the repository holds a text of others: one with a copyright line. LICENSE is the licence of our own text.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { foreignLines } from "./own-text/foreign-lines.mjs";
import { root } from "./workspace/run.mjs";
import { trackedFiles } from "./workspace/tracked-files.mjs";

const paths = trackedFiles().filter((path) => path !== "LICENSE");
const found = paths.flatMap((path) =>
  foreignLines(readFileSync(join(root, path), "utf8")).map(
    ({ line, text }) => `${path}:${line}: ${text.slice(0, 120)}`,
  ),
);
for (const location of found) console.error(location);
console.log(`own-text: ${paths.length} files, ${found.length} lines that belong to others`);
process.exitCode = found.length === 0 ? 0 : 1;

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { importGraph } from "../../../scripts/figures/import-graph.mjs";
import { findCircles } from "../../../scripts/layering/find-circles.mjs";

type Graph = ReadonlyMap<string, readonly string[]>;

const root = fileURLToPath(new URL("../../../", import.meta.url));

const folders = ["packages", "adapters"]
  .flatMap((parent) => readdirSync(`${root}${parent}`).map((name) => `${parent}/${name}`))
  .filter((folder) => existsSync(`${root}${folder}/src`));

const packages = folders.filter((folder) => folder.startsWith("packages/"));

/** Which file of a package's `src` imports which. */
const readFiles = (folder: string): Graph =>
  importGraph(
    readdirSync(`${root}${folder}/src`, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => ({ path, source: readFileSync(`${root}${folder}/src/${path}`, "utf8") })),
  );

/**
 * Which folder imports from which. The files next to the folders are left out: they put the folders together, and hold what
 * all of them share.
 */
const toFolders = (files: Graph): Graph => {
  const graph = new Map<string, string[]>();
  for (const [path, targets] of files) {
    const folder = posix.dirname(path);
    const others = targets.map((target) => posix.dirname(target)).filter((other) => other !== folder);
    graph.set(folder, [...(graph.get(folder) ?? []), ...others]);
  }
  graph.delete(".");
  return graph;
};

test("the sources of all packages and adapters are read", () => {
  expect(folders.length).toBeGreaterThan(10);
  expect(toFolders(readFiles("packages/server")).get("rev-2025")).toContain("tasks-sep1686");
});

test.each(folders)("no file of %s imports from one that imports from it, not even a type", (folder) => {
  expect(findCircles(readFiles(folder))).toEqual([]);
});

test.each(packages)("no folder of %s imports from one that imports from it", (folder) => {
  expect(findCircles(toFolders(readFiles(folder)))).toEqual([]);
});

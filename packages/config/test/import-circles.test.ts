import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { readImports } from "../../../scripts/layering/read-imports.mjs";

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

const packages = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Which folder of a package imports from which. The files beside the folders are left out: they put the folders together,
 * and hold what all of them share.
 */
const readFolders = (source: string): Graph => {
  const graph = new Map<string, Set<string>>();
  for (const path of readdirSync(source, { recursive: true, encoding: "utf8" })) {
    const folder = folderOf(path);
    if (!path.endsWith(".ts") || folder === "") continue;
    for (const { specifier } of readImports(readFileSync(`${source}/${path}`, "utf8"))) {
      if (!specifier.startsWith(".")) continue;
      const other = folderOf(new URL(specifier, `file:///${path}`).pathname.slice(1));
      if (other !== "" && other !== folder) graph.set(folder, (graph.get(folder) ?? new Set()).add(other));
    }
  }
  return graph;
};

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** A way from a folder back to itself, as `a → b → a`; undefined: there is none. */
const findCycle = (graph: Graph, path: readonly string[] = []): string | undefined => {
  const nexts = path.length === 0 ? graph.keys() : (graph.get(path.at(-1) as string) ?? []);
  for (const next of nexts) {
    if (path.includes(next)) return [...path.slice(path.indexOf(next)), next].join(" → ");
    const found = findCycle(graph, [...path, next]);
    if (found !== undefined) return found;
  }
  return undefined;
};

test("a cycle is found, however long", () => {
  const graph = (edges: Record<string, readonly string[]>): Graph =>
    new Map(Object.entries(edges).map(([from, to]) => [from, new Set(to)]));
  expect(findCycle(graph({ a: ["b", "c"], b: ["d"], c: ["d"] }))).toBeUndefined();
  expect(findCycle(graph({ a: ["b"], b: ["c"], c: ["a"] }))).toBe("a → b → c → a");
  expect(findCycle(graph({ a: ["b"], b: ["c"], c: ["b"] }))).toBe("b → c → b");
});

const sources = readdirSync(packages)
  .map((name) => `${packages}${name}/src`)
  .filter((source) => existsSync(source));

test("there are packages to look at", () => {
  expect(sources.length).toBeGreaterThan(5);
  expect(readFolders(`${packages}server/src`).get("legacy")).toContain("draft");
});

test.each(sources.map((source) => [source.slice(packages.length), source]))(
  "no folder of %s imports from one that imports from it",
  (_name, source) => {
    expect(findCycle(readFolders(source))).toBeUndefined();
  },
);

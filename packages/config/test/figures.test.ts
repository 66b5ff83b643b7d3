import { describe, expect, test } from "@jest/globals";
import { codeLines } from "../../../scripts/figures/code-lines.mjs";
import { findCopies } from "../../../scripts/figures/find-copies.mjs";
import { importGraph } from "../../../scripts/figures/import-graph.mjs";
import { privateMembers } from "../../../scripts/figures/private-members.mjs";
import { findCircles } from "../../../scripts/layering/find-circles.mjs";

const numbers = (path: string, source: string): number[] => codeLines(path, source).map(({ line }) => line);

describe("code lines of TypeScript", () => {
  test("leave out blank lines and comments of either kind", () => {
    const source = ["// one", "", "/**", " * two", " */", "const a = 1; // three", "/* four */ const b = 2;", "  "];
    expect(codeLines("a.ts", source.join("\n"))).toEqual([
      { line: 6, text: "const a = 1;" },
      { line: 7, text: "const b = 2;" },
    ]);
  });

  test("keep strings, templates and regular expressions that look like comments", () => {
    const source = [
      'const a = "// no";',
      "const b = `",
      "// no",
      "/* ${a /* yes */} no */",
      "`;",
      "const c = /[/*]\\/*/;",
    ];
    expect(codeLines("a.ts", source.join("\n"))).toEqual([
      { line: 1, text: 'const a = "// no";' },
      { line: 2, text: "const b = `" },
      { line: 3, text: "// no" },
      { line: 4, text: "/* ${a } no */" },
      { line: 5, text: "`;" },
      { line: 6, text: "const c = /[/*]\\/*/;" },
    ]);
  });

  test("leave out every line of imports and of `export … from`", () => {
    const source = [
      'import "bare";',
      "import {",
      "  a, // named",
      "  type B,",
      '} from "many";',
      'import data from "./data.json" with { type: "json" };',
      'import type { C } from "types";',
      'export * from "star";',
      "export {",
      "  d,",
      '} from "named";',
      'export type { E } from "types";',
      "const x = 1;",
    ];
    expect(numbers("a.ts", source.join("\n"))).toEqual([13]);
  });

  test("keep exports of the file's own, `import()` and `import.meta`", () => {
    const source = [
      "const a = 1;",
      "export {",
      "  a,",
      "};",
      'export const from = "text";',
      'export type T = import("types").T;',
      'import.meta.resolve("x");',
      'import("y");',
      "const property = { import: a };",
    ];
    expect(numbers("a.ts", source.join("\n"))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

test("code lines of Lua leave out comments, also long ones, and keep strings that look like them", () => {
  const source = [
    "-- one",
    "local a = 1 -- two",
    "--[[ three",
    "local b = 2",
    "]]",
    "--[==[ four ]]",
    "]==]",
    'local c = "-- no"',
    "local d = [[",
    "-- no",
    "]]",
    "local e = '--[[ no'",
    "",
  ];
  expect(numbers("a.lua", source.join("\n"))).toEqual([2, 8, 9, 10, 11, 12]);
});

test("code lines of SQL leave out comments and keep strings that look like them", () => {
  const source = [
    "-- one",
    "SELECT 1; -- two",
    "/* three",
    "SELECT 2; */",
    "SELECT '-- it''s /* no', \"--no\";",
    "DO $body$",
    "-- no",
    "$body$;",
    "",
  ];
  expect(numbers("a.sql", source.join("\n"))).toEqual([2, 5, 6, 7, 8]);
});

describe("copies", () => {
  const file = (path: string, source: string) => ({ path, code: codeLines(path, source) });
  const block = Array.from({ length: 8 }, (_, index) => `call(${index});`);

  test("are found under other indentation and other comments, at their full length", () => {
    const copied = block.flatMap((line) => ["// why", "", `    ${line}`]);
    const files = [
      file("a.ts", ["first();", ...block, "same();"].join("\n")),
      file("b.ts", [...copied, "same();"].join("\n")),
    ];
    expect(findCopies(files, 8)).toEqual([{ location: "b.ts:3", copyOf: "a.ts:2", lines: 9 }]);
  });

  test("are not found below the length that is asked for, nor across the end of a file", () => {
    const short = block.slice(0, 7).join("\n");
    expect(findCopies([file("a.ts", short), file("b.ts", short)], 8)).toEqual([]);
    const halves = [block.slice(0, 4), block.slice(4)].map((half) => half.join("\n"));
    const files = [file("a.ts", halves[0] ?? ""), file("b.ts", halves[1] ?? ""), file("c.ts", block.join("\n"))];
    expect(findCopies(files, 8)).toEqual([]);
  });

  test("of a repeated line do not overlap", () => {
    const files = [file("a.ts", Array.from({ length: 16 }, () => "same();").join("\n"))];
    expect(findCopies(files, 8)).toEqual([{ location: "a.ts:9", copyOf: "a.ts:1", lines: 8 }]);
  });
});

describe("import circles", () => {
  const circles = (edges: Record<string, readonly string[]>) => findCircles(new Map(Object.entries(edges)));

  test("are found, however long, and a graph without them has none", () => {
    expect(circles({ a: ["b", "c"], b: ["d"], c: ["d"], d: [] })).toEqual([]);
    expect(circles({ a: ["b"], b: ["c"], c: ["a"], d: ["a"] })).toEqual([["a", "b", "c"]]);
    expect(circles({ a: ["a"] })).toEqual([["a"]]);
  });

  test("that share a file are one, and others are apart", () => {
    expect(circles({ a: ["b"], b: ["a", "c"], c: ["b"], x: ["y"], y: ["x"] })).toEqual([
      ["a", "b", "c"],
      ["x", "y"],
    ]);
  });

  test("go through type imports as well", () => {
    const files = [
      { path: "p/src/a.ts", source: 'import type { B } from "./deep/b.ts"; export type A = B;' },
      { path: "p/src/deep/b.ts", source: 'export type { A } from "../a.ts";' },
      { path: "p/src/query.sql", source: "SELECT 1" },
    ];
    expect(findCircles(importGraph(files))).toEqual([["p/src/a.ts", "p/src/deep/b.ts"]]);
  });
});

test("private members are found where they are read, written, taken apart and described", () => {
  const source = `
    interface Sdk { readonly _described: unknown; _called(): void; visible: unknown }
    server._read?.get("x");
    server["_quoted"] = 1;
    const { _short, _renamed: mine, visible: _ours } = server;
    params._meta;
    const _local = "_text";
  `;
  expect(privateMembers(source).sort()).toEqual(["_called", "_described", "_quoted", "_read", "_renamed", "_short"]);
});

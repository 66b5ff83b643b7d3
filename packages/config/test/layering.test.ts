import { describe, expect, test } from "@jest/globals";
import { checkImports } from "../../../scripts/layering/check-imports.mjs";
import { readImports } from "../../../scripts/layering/read-imports.mjs";

const workspace = { name: "workspace", devDependencies: { "@jest/globals": "*" } };

/** What is wrong with a package of these source files, when it declares every module that they import. */
function check(files: Record<string, string>, undeclared: readonly string[] = []): string[] {
  const sources = Object.entries(files).map(([path, source]) => ({ path, imports: readImports(source) }));
  const [folder = ""] = /^[^/]+\/[^/]+/.exec(sources[0]?.path ?? "") ?? [];
  const names = sources.flatMap(({ imports }) => imports.map(({ specifier }) => specifier));
  const dependencies = Object.fromEntries(
    names
      .map((name) => [/^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name, "*"])
      .filter(([name = ""]) => !undeclared.includes(name)),
  );
  return checkImports(folder, { name: "under-test", dependencies }, sources, workspace);
}

describe("reading imports", () => {
  test("finds every way to name a module, and none in comments or strings", () => {
    const source = `
      // import "comment";
      import type { A } from "type-only";
      import "bare";
      export { b } from "re-exported";
      export * from "star";
      export const local = "import 'string'";
      const text: import("type-query").T = await import("dynamic");
      await import(computed);
    `;
    expect(readImports(source)).toEqual([
      { specifier: "type-only", dynamic: false },
      { specifier: "bare", dynamic: false },
      { specifier: "re-exported", dynamic: false },
      { specifier: "star", dynamic: false },
      { specifier: "type-query", dynamic: false },
      { specifier: "dynamic", dynamic: true },
    ]);
  });
});

describe("allowed", () => {
  test.each([
    ["packages/core/src/contract/a.ts", `import type { B } from "./b.ts";`],
    [
      "packages/core/src/engine/a.ts",
      `import { b } from "../contract/b.ts"; import { Ajv2020 } from "ajv/dist/2020.js";`,
    ],
    ["packages/core/src/adapter.ts", `export { b } from "./contract/b.ts";`],
    ["packages/protocol/src/tasks-2025-11-25/a.ts", `import * as z from "zod"; import { c } from "../c.ts";`],
    ["packages/protocol/src/index.ts", `export { a } from "./tasks-2026-07-28/a.ts";`],
    ["packages/server/src/a.ts", `import { p } from "@taskbridge/protocol"; import { Hono } from "hono";`],
    ["packages/store-x/src/a.ts", `import type { S } from "@taskbridge/core/store"; import D from "better-sqlite3";`],
    ["packages/client/src/a.ts", `import { isTaskV2 } from "@modelcontextprotocol/ext-tasks/core/v2";`],
    ["packages/cli/src/a.ts", `import { taskClient } from "@taskbridge/client";`],
    ["packages/cli/src/a.ts", `const { createAdapter } = await import("@taskbridge/adapter-process");`],
    [
      "packages/testkit/src/a.ts",
      `import type { W } from "@taskbridge/core/adapter"; import { join } from "node:path";`,
    ],
    ["packages/testkit/test/a.test.ts", `import { test } from "@jest/globals"; import { a } from "../src/a.ts";`],
    [
      "adapters/x/src/sdk-client.ts",
      `import { Sdk } from "vendor-sdk"; import type { W } from "@taskbridge/core/adapter";`,
    ],
    [
      "adapters/x/src/events/queue-client.ts",
      `import type { Queue } from "vendor-queue"; const queue = () => import("vendor-queue");`,
    ],
    ["examples/x/server.ts", `import { createServer } from "@taskbridge/server"; import { jobs } from "./jobs.ts";`],
  ])("%s: %s", (path, source) => {
    expect(check({ [path]: source })).toEqual([]);
  });
});

describe("refused", () => {
  test.each([
    ["packages/core/src/contract/a.ts", `import { b } from "../engine/b.ts";`, "may not import core/engine"],
    ["packages/core/src/engine/state/a.ts", `import { b } from "../outbox/b.ts";`, "may not import core/engine/outbox"],
    ["packages/core/src/contract/a.ts", `import { randomUUID } from "node:crypto";`, "may not import node:crypto"],
    ["packages/core/src/engine/a.ts", `import * as z from "zod";`, "may not import zod"],
    [
      "packages/core/src/engine/a.ts",
      `import type { P } from "@taskbridge/protocol";`,
      "may not import @taskbridge/protocol",
    ],
    [
      "packages/core/src/engine/a.ts",
      `import { S } from "@modelcontextprotocol/server";`,
      "may not import @modelcontextprotocol/",
    ],
    [
      "packages/protocol/src/no-tasks/a.ts",
      `import { b } from "../tasks-sep1686/b.ts";`,
      "may not import protocol/tasks-sep1686",
    ],
    ["packages/protocol/src/a.ts", `import { s } from "@taskbridge/server";`, "may not import @taskbridge/server"],
    [
      "packages/server/src/a.ts",
      `import { s } from "@taskbridge/store-sqlite";`,
      "may not import @taskbridge/store-sqlite",
    ],
    ["packages/store-x/src/a.ts", `import { c } from "@taskbridge/core";`, "may not import @taskbridge/core"],
    ["packages/store-x/src/a.ts", `import { s } from "@taskbridge/store-y";`, "may not import @taskbridge/store-y"],
    ["packages/client/src/a.ts", `import { e } from "@taskbridge/core";`, "may not import @taskbridge/core"],
    ["packages/client/src/a.ts", `import { s } from "@taskbridge/server";`, "may not import @taskbridge/server"],
    ["packages/client/src/a.ts", `import { C } from "@modelcontextprotocol/sdk/client/index.js";`, "may not import"],
    ["packages/cli/src/a.ts", `import { p } from "@taskbridge/adapter-process";`, "by import() only"],
    ["packages/cli/src/a.ts", `import type { S } from "@taskbridge/store-sqlite";`, "by import() only"],
    ["packages/testkit/src/a.ts", `import { test } from "@jest/globals";`, "may not import @jest/globals"],
    ["adapters/x/src/a.ts", `import { c } from "@taskbridge/core";`, "may not import @taskbridge/core"],
    [
      "adapters/x/src/a.ts",
      `import { C } from "@modelcontextprotocol/client";`,
      "may not import @modelcontextprotocol/",
    ],
    ["adapters/x/src/a.ts", `import { b } from "../../y/src/b.ts";`, "leaves its package"],
    ["adapters/x/test/a.test.ts", `import { b } from "../../../packages/core/src/b.ts";`, "leaves its package"],
    ["examples/x/server.ts", `import { s } from "@taskbridge/server/src/s.ts";`, "reaches into another package"],
    ["examples/x/server.ts", `import { s } from "@taskbridge/server/dist/s.js";`, "reaches into another package"],
  ])("%s: %s", (path, source, reason) => {
    expect(check({ [path]: source })).toEqual([expect.stringContaining(reason)]);
  });

  test("a package that the manifest does not declare", () => {
    const files = { "packages/server/src/a.ts": `import { Hono } from "hono";` };
    expect(check(files, ["hono"])).toEqual([expect.stringContaining("is not a declared dependency of under-test")]);
  });

  test("a development dependency in source", () => {
    const source = `import { test } from "@jest/globals";`;
    expect(check({ "packages/server/src/a.ts": source }, ["@jest/globals"])).toHaveLength(1);
    expect(check({ "packages/server/test/a.test.ts": source }, ["@jest/globals"])).toEqual([]);
  });

  test("a vendor SDK in two files of an adapter", () => {
    const files = {
      "adapters/x/src/sdk-client.ts": `import { Sdk } from "vendor-sdk";`,
      "adapters/x/src/to-error.ts": `import type { SdkError } from "vendor-sdk/errors";`,
    };
    expect(check(files)).toEqual([expect.stringContaining('"vendor-sdk" belongs in one file')]);
  });

  test("one of several clients of a vendor in two files, also when the second loads it lazily or for its types", () => {
    const files = {
      "adapters/x/src/sfn-client.ts": `import { Sfn } from "@vendor/client-sfn";`,
      "adapters/x/src/events/sqs-client.ts": `const sqs = () => import("@vendor/client-sqs");`,
      "adapters/x/src/inspect.ts": `import type { Sfn } from "@vendor/client-sfn";`,
      "adapters/x/src/watch.ts": `const sqs = () => import("@vendor/client-sqs");`,
    };
    expect(check(files)).toEqual([
      expect.stringContaining('"@vendor/client-sfn" belongs in one file'),
      expect.stringContaining('"@vendor/client-sqs" belongs in one file'),
    ]);
  });
});

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const documents = ["packages/docs", ".github"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => `${folder}/${name}`),
);

/** Files that a document links to, and paths that it names as code. One with a `*`, `<` or `…` names many. */
const namedPaths = (document: string, text: string): readonly string[] => {
  const links = Array.from(text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g), ([, path = ""]) =>
    join(dirname(document), path),
  );
  const code = Array.from(
    text.matchAll(/`((?:packages|adapters|scripts|examples)\/[^`\s:]+)`/g),
    ([, path = ""]) => path,
  );
  return [...links, ...code.filter((path) => !/[*<>{}…]/.test(path))];
};

test.each(documents)("every path that %s names exists", (document) => {
  const paths = namedPaths(document, readFileSync(join(root, document), "utf8"));
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("finds links and paths in code, and leaves out patterns and web pages", () => {
  const text = "[a](../x.md#y) `packages/a/b.ts` `packages/*/c` [w](https://example.org) `other/d`";
  expect(namedPaths("packages/docs/z.md", text)).toEqual(["packages/x.md", "packages/a/b.ts"]);
});

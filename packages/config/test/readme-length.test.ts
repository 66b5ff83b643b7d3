import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Characters of a line of prose. Tables, code blocks and lines that are only a link are not prose. */
const maxLineLength = 160;

const maxWordsOf = (path: string): number => {
  if (path === "README.md") return 600;
  return basename(path) === "README.md" ? 900 : 1500;
};

const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
  cwd: root,
  encoding: "utf8",
});
const documents = tracked
  .trim()
  .split("\n")
  .filter((path) => basename(path) === "README.md" || path.startsWith("packages/docs/"));

/** Words as `wc -w` counts them, those in tables and code blocks included. */
const countWords = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

const tooLongLines = (text: string): readonly string[] =>
  text
    .replace(/^ *```.*?^ *```$/gms, "")
    .split("\n")
    .filter((line) => line.length > maxLineLength && !/^ *(\||(- )?!?\[[^\]]*\]\([^)]*\)\.?$)/.test(line));

test.each(documents)("%s has no more words than a reader finishes", (path) => {
  expect(countWords(readFileSync(`${root}/${path}`, "utf8"))).toBeLessThanOrEqual(maxWordsOf(path));
});

test.each(documents)(`%s has no line of prose above ${maxLineLength} characters`, (path) => {
  expect(tooLongLines(readFileSync(`${root}/${path}`, "utf8"))).toEqual([]);
});

test("a long line counts as prose unless it is in a table, in a code block or only a link", () => {
  const long = "word ".repeat(40);
  expect(tooLongLines(`${long}\n| ${long} |\n\`\`\`sh\n${long}\n\`\`\`\n- [${long}](x.md)\n- ${long}`)).toEqual([
    long,
    `- ${long}`,
  ]);
});

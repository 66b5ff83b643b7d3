import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { declaredNames } from "../../../scripts/names/declared-names.mjs";
import { trackedFiles } from "../../../scripts/workspace/tracked-files.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Words that say less than a word of the field would: report, receive, update, message, poll, client, deduplicated. */
const banned = /(?<= )(told|tell|hear|heard|news|letter|looks|looked|whoever|surely|folded|settle ms)(?= )/;

/** The banned word that a name of any case holds as a word of its own. */
const bannedWord = (name: string): string | undefined => {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$3 $2")
    .split(/[^A-Za-z\d]+/)
    .join(" ");
  return banned.exec(` ${words.toLowerCase()} `)?.[1];
};

test("a banned word is found in a name of any case, and not inside other words", () => {
  const bad = [
    "told",
    "isFolded",
    "HTTPNews",
    "TASKBRIDGE_SETTLE_MS",
    "settleMs",
    "letter-box.ts",
    "lastLookedAt",
    "_hear",
  ];
  expect(bad.map(bannedWord)).toEqual(["told", "folded", "news", "settle ms", "settle ms", "letter", "looked", "hear"]);
  const good = ["untold", "heartbeat", "newsletter", "settle", "settledMs", "unsettleMs", "teller", "look", "hearsay"];
  expect(good.map(bannedWord)).toEqual(good.map(() => undefined));
});

test("every kind of declaration is found, once and with its line, and no use of a name", () => {
  const source = [
    "import { used as imported, other } from 'x';",
    "export const a = other.used, { b, c: d, ...e } = used({ f: 1, 'quoted': used, g() {} });",
    "function h<I>(j: I, [k = 1]: number[]): void { for (const l of used) l(); }",
    "interface M { readonly n?: number; o(p: string): void }",
    "type Q = (r: number) => M;",
    "class S extends T { u = 1; v() { try { w(); } catch (x) {} } }",
    "const y = (z: number): string => `é${(aa: Q) => aa}`;",
    "let bb = 1; bb = 2;",
  ];
  const found = declaredNames(source.join("\n")).map(({ name, line }) => `${name}:${line}`);
  const lines = ["imported", "a b d e f g", "h I j k l", "M n o p", "Q r", "S u v x", "y z aa", "bb"];
  expect(found).toEqual(lines.flatMap((names, index) => names.split(" ").map((name) => `${name}:${index + 1}`)));
});

test("no name of a file, a folder or a declaration holds a banned word", () => {
  const paths = trackedFiles().filter((path) => /\.(ts|mts|mjs|js|lua|sql)$/.test(path));
  const declarations = paths
    .filter((path) => /\.m?[jt]s$/.test(path))
    .flatMap((path) =>
      declaredNames(readFileSync(`${root}${path}`, "utf8"))
        .filter(({ name }) => bannedWord(name) !== undefined)
        .map(({ name, line }) => `${path}:${line}: ${name}`),
    );
  const names = paths.filter((path) => path.split("/").some((part) => bannedWord(part) !== undefined));
  expect(paths.length).toBeGreaterThan(1_000);
  expect([...names, ...declarations]).toEqual([]);
});

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** What somebody who takes up a backend or a store reads to its end. */
const maxLines = 120;

const folders = [
  ...readdirSync(`${root}/adapters`).map((name) => `adapters/${name}`),
  ...readdirSync(`${root}/packages`).flatMap((name) => (name.startsWith("store-") ? [`packages/${name}`] : [])),
];

test.each(folders)(`the README of %s has at most ${maxLines} lines`, (folder) => {
  const lines = readFileSync(`${root}/${folder}/README.md`, "utf8").trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(maxLines);
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";

interface Job {
  readonly strategy?: { readonly matrix?: { readonly command?: readonly string[] } };
  readonly steps: readonly { readonly run?: string }[];
}

const root = fileURLToPath(new URL("../../../", import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { jobs }: { jobs: Readonly<Record<string, Job>> } = parse(
  readFileSync(join(root, ".github/workflows/ci.yml"), "utf8"),
);
const commands = Object.values(jobs).flatMap(({ steps, strategy }) => [
  ...steps.flatMap(({ run }) => (run === undefined || run.includes("matrix.command") ? [] : [run])),
  ...(strategy?.matrix?.command ?? []),
]);

/** The npm script that a command runs, or the file that it hands to bash or to Node. */
const targetOf = (command: string): string | undefined => {
  const [, script = /^npm test\b/.test(command) ? "test" : undefined] = /^npm run (\S+)/.exec(command) ?? [];
  if (script !== undefined) return script in scripts ? script : undefined;
  const [, file] = /(?:^| )(?:bash|node) (\S+)$/.exec(command) ?? [];
  return file !== undefined && existsSync(join(root, file)) ? file : undefined;
};

test.each([...new Set(commands)])("the workflow's command exists in this repository: %s", (command) => {
  expect(targetOf(command)).toBeDefined();
});

test.each(["npm run no-such-script", "bash .ci/no-such-file", "curl example.org"])(
  "a command is refused: %s",
  (command) => {
    expect(targetOf(command)).toBeUndefined();
  },
);

test("the workflow verifies as .ci/run does, and plays soak and chaos", () => {
  expect(commands.map(targetOf)).toEqual(expect.arrayContaining([".ci/run", "test", "soak", "chaos"]));
});

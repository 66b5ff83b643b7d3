import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { importPackage } from "../../src/config/import-package.ts";

const name = "@taskbridge/adapter-unbuilt";
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), "taskbridge-import-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (file: string, text: string): void => {
  mkdirSync(join(folder, file, ".."), { recursive: true });
  writeFileSync(join(folder, file), text);
};

const manifest = JSON.stringify({ name, type: "module", exports: { ".": "./dist/index.js" } });

const link = (): string => {
  write("clone/adapters/unbuilt/package.json", manifest);
  write("project/node_modules/@taskbridge/.keep", "");
  symlinkSync(join(folder, "clone/adapters/unbuilt"), join(folder, "project/node_modules", name));
  return join(folder, "project");
};

test("a link into a clone that is not built says where to build", async () => {
  const project = link();
  write("clone/pnpm-workspace.yaml", "");
  expect(await importPackage([name], project)).toEqual({
    fault: `${name} does not load: it is a link to ${folder}/clone/adapters/unbuilt, which is not built; run "npm run build" in ${folder}/clone`,
  });
});

test.each(["a link to a single package", "an installed copy"])(
  "%s without its modules says what is missing",
  async (what) => {
    const project = what === "an installed copy" ? join(folder, "project") : link();
    write(`project/node_modules/${name}/package.json`, manifest);
    const outcome = await importPackage([name], project);
    expect(outcome).toEqual({
      fault: expect.stringMatching(/^@taskbridge\/adapter-unbuilt does not load: (?!it is a link)/),
    });
  },
);

test("a module that fails by itself says why", async () => {
  const project = link();
  write("clone/pnpm-workspace.yaml", "");
  write("clone/adapters/unbuilt/dist/index.js", 'throw new Error("no licence");');
  expect(await importPackage([name], project)).toEqual({ fault: `${name} does not load: no licence` });
});

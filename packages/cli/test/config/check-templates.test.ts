import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { checkTemplates } from "../../src/config/check-templates.ts";
import { loadConfig } from "../../src/config/load-config.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "taskbridge-templates-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const closed = `{ type: object, additionalProperties: false, properties: { file: {}, size: { type: object, additionalProperties: false, properties: { x: {} } } } }`;

const check = (argument: string, input: string): string => {
  const file = join(folder, "taskbridge.yaml");
  const target = `{ command: [run, ${JSON.stringify(argument)}] }`;
  writeFileSync(
    file,
    `adapters: { local: { use: process, directory: ./jobs } }\ntools:\n  - name: a\n    adapter: local\n    input: ${input}\n    target: ${target}\n`,
  );
  try {
    checkTemplates(loadConfig(file));
    return "ok";
  } catch (error) {
    return (error as Error).message.replace(`${file}:6: tools[0].target.command[1]: `, "");
  }
};

test.each([
  ["{{input.file}} and {{ input.size.x }}", "ok"],
  ["{{input.size}}", "ok"],
  ["{{input.file.deep}}", "ok"],
  ["{{.State}} {{json .}} {{ user.name }} }} {", "ok"],
  ["{{{input.file}}}", "ok"],
  ["{{input.zz}}", "{{input.zz}}: the input schema allows no zz; it has file, size"],
  ["{{input.fiel}}", "{{input.fiel}}: the input schema allows no fiel; did you mean file?"],
  ["{{input.size.y}}", "{{input.size.y}}: the input schema allows no y; did you mean x?"],
  ["x {{ input.file", "{{ input.file: the closing }} is missing"],
  ["{{output.x}}", "{{output.x}}: only {{input.NAME}} is replaced"],
  ["{{inptu.file}}", "{{inptu.file}}: only {{input.NAME}} is replaced"],
  ["{{input}}", "{{input}}: only {{input.NAME}} is replaced"],
  ["{{input.file|upper}}", "{{input.file|upper}}: only {{input.NAME}} is replaced"],
])("%s: %s", (argument, expected) => {
  expect(check(argument, closed)).toBe(expected);
});

test("the text for the model is checked as well", () => {
  const file = join(folder, "taskbridge.yaml");
  const tool = `{ name: a, adapter: local, input: ${closed}, target: { command: [run] }, task: { immediateResponse: "{{input.zz}}" } }`;
  writeFileSync(file, `adapters: { local: { use: process, directory: ./jobs } }\ntools: [${tool}]\n`);
  expect(() => checkTemplates(loadConfig(file))).toThrow(
    "tools[0].task.immediateResponse: {{input.zz}}: the input schema allows no zz; it has file, size",
  );
});

test.each([
  "{ type: object, properties: { file: {} } }",
  '{ type: object, additionalProperties: false, patternProperties: { "^z": {} } }',
])("an argument that is only not named is allowed: %s", (input) => {
  expect(check("{{input.zz}}", input)).toBe("ok");
});

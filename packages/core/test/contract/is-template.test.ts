import { expect, test } from "@jest/globals";
import { isTemplate } from "../../src/adapter.ts";
import { fillTemplate } from "../../src/engine/start/fill-template.ts";

test.each([
  ["{{input.team}}", true],
  ["q-{{ input.where.region }}-x", true],
  ["{{input.a}}{{input.b}}", true],
  ["", false],
  ["plain", false],
  ["{{", false],
  ["{{team}}", false],
  ["{{input}}", false],
  ["{{inputs.team}}", false],
  ["{input.team}", false],
])("%j: %s, every time, as the engine fills it in", (text, expected) => {
  expect([isTemplate(text), isTemplate(text)]).toEqual([expected, expected]);
  const input = { team: "", where: { region: "" }, a: "", b: "" };
  expect(fillTemplate(text, input) !== text).toBe(expected);
});

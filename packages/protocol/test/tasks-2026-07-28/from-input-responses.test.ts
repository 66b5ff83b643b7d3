import { describe, expect, test } from "@jest/globals";
import type { JsonObject } from "@taskbridge/core";
import { fromInputResponses } from "../../src/tasks-2026-07-28/from-input-responses.ts";
import { aQuestion } from "../a-task.ts";

const object = (property: JsonObject): JsonObject => ({ type: "object", properties: { x: property } });

describe("[A-9] answers", () => {
  const all = { tasks: true, form: true, url: true };
  const questions = new Map([
    ["flat", aQuestion({ schema: object({ type: "string" }) })],
    ["deep", aQuestion({ schema: object({ type: "object" }) })],
    ["yes", aQuestion()],
    ["page", aQuestion({ url: "https://sign.example" })],
  ]);

  test.each([
    [{ flat: { action: "accept", content: { x: "a" } } }, { flat: { action: "accept", content: { x: "a" } } }],
    [{ flat: { action: "accept" } }, { flat: { action: "accept", content: {} } }],
    [{ flat: { action: "decline", content: { x: "a" } } }, { flat: { action: "decline" } }],
    [{ flat: { action: "cancel" } }, { flat: { action: "cancel" } }],
    [{ deep: { action: "accept", content: { json: '{"x":{}}' } } }, { deep: { action: "accept", content: { x: {} } } }],
    [{ yes: { action: "accept", content: {} } }, { yes: { action: "accept" } }],
    [{ page: { action: "accept" } }, {}],
    [{ page: { action: "decline" } }, { page: { action: "decline" } }],
    [{ unknown: { ignored: true } }, {}],
    [{ constructor: { action: "accept" } }, {}],
  ])("%j", (responses, answers) => {
    expect(fromInputResponses(responses, questions, all)).toEqual(answers);
  });

  test.each([
    [{ flat: { action: "maybe" } }, "inputResponses.flat.action"],
    [{ flat: {} }, "inputResponses.flat.action"],
    [{ flat: "yes" }, "inputResponses.flat"],
    [{ flat: { action: "accept", content: "x" } }, "inputResponses.flat.content"],
    [{ deep: { action: "accept", content: { json: "{" } } }, "inputResponses.deep.content.json"],
    [{ deep: { action: "accept" } }, "inputResponses.deep.content.json"],
  ])("%j is refused, naming the field", (responses, path) => {
    expect(() => fromInputResponses(responses, questions, all)).toThrow(
      expect.objectContaining({ code: "invalid_input", data: { path }, message: expect.stringContaining(path) }),
    );
  });
});

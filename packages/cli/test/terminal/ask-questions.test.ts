import { PassThrough } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import type { JsonObject } from "@taskbridge/core";
import { askQuestions } from "../../src/terminal/ask-questions.ts";

/** Types one line for each prompt, as a person would. */
const answer = async (
  schema: JsonObject | undefined,
  lines: readonly string[],
): Promise<{ answers: unknown; shown: string }> => {
  const input = new PassThrough();
  const output = new PassThrough();
  const waiting = [...lines];
  let shown = "";
  output.on("data", (chunk) => {
    shown += String(chunk);
    if (/(\?|:) $/.test(String(chunk))) input.write(`${waiting.shift()}\n`);
  });
  const question = { key: "q1", message: "Delete 14 files?", ...(schema === undefined ? {} : { schema }) };
  const answers = await askQuestions([question], { input, output }, new AbortController().signal, () => {});
  expect(waiting).toEqual([]);
  return { answers: (answers as Record<string, unknown>)["q1"], shown };
};

const fields = (properties: JsonObject, ...required: string[]): JsonObject => ({
  type: "object",
  properties,
  required,
});

describe("asking on a terminal", () => {
  test.each([
    ["no fields: accept", undefined, ["a"], { action: "accept" }],
    ["no fields: decline", undefined, ["no idea", "decline"], { action: "decline" }],
    ["no fields: yes", undefined, ["y"], { action: "accept" }],
    ["no fields: no", undefined, ["No"], { action: "decline" }],
    [
      "a boolean",
      fields({ ok: { type: "boolean" } }, "ok"),
      ["maybe", "", "yes"],
      { action: "accept", content: { ok: true } },
    ],
    [
      "numbers",
      fields({ n: { type: "integer" }, x: { type: "number" } }, "n", "x"),
      ["1.5", "3", "-2.5"],
      { action: "accept", content: { n: 3, x: -2.5 } },
    ],
    [
      "a choice",
      fields({ c: { type: "string", enum: ["red", "blue"] } }, "c"),
      ["green", "blue"],
      { action: "accept", content: { c: "blue" } },
    ],
    [
      "a titled choice",
      fields(
        {
          c: {
            type: "string",
            oneOf: [
              { const: "r", title: "Red" },
              { const: "b", title: "Blue" },
            ],
          },
        },
        "c",
      ),
      ["Blue"],
      { action: "accept", content: { c: "b" } },
    ],
    ["what is left out", fields({ note: { type: "string" } }), [""], { action: "accept", content: {} }],
    [
      "a default",
      fields({ note: { type: "string", default: "none" } }, "note"),
      [""],
      { action: "accept", content: { note: "none" } },
    ],
    [
      "a list, as JSON",
      fields({ list: { type: "array" } }, "list"),
      ["[1", "[1,2]"],
      { action: "accept", content: { list: [1, 2] } },
    ],
    [
      "a refusal half way",
      fields({ a: { type: "string" }, b: { type: "string" } }, "a", "b"),
      ["x", ":decline"],
      { action: "decline" },
    ],
    ["a dismissal", fields({ a: { type: "string" } }, "a"), [":cancel"], { action: "cancel" }],
  ])("%s", async (_name, schema, lines, expected) => {
    expect((await answer(schema, lines)).answers).toEqual(expected);
  });

  test("shows the message, titles and what may be typed", async () => {
    const { shown } = await answer(fields({ ok: { type: "boolean", title: "Delete them" } }, "ok"), ["y"]);
    expect(shown).toContain("Delete 14 files?\n");
    expect(shown).toContain("  Delete them [yes or no]: ");
  });

  test("tells what is possible where a word means nothing", async () => {
    const { shown, answers } = await answer(undefined, ["perhaps", "", "cancel"]);
    expect(answers).toEqual({ action: "cancel" });
    expect(shown.match(/ {2}Type accept \(or yes\), decline \(or no\) or cancel\.\n/g)).toHaveLength(2);
  });

  test.each(["Ctrl-D", "the end of the input"])("%s interrupts, once", async (how) => {
    const input = new PassThrough();
    const output = Object.assign(new PassThrough().resume(), how === "Ctrl-D" ? { isTTY: true } : {});
    const controller = new AbortController();
    let interruptions = 0;
    const interrupt = (): void => {
      interruptions += 1;
      controller.abort(new Error("interrupted"));
    };
    const asking = askQuestions([{ key: "q1", message: "?" }], { input, output }, controller.signal, interrupt);
    if (how === "Ctrl-D") input.write("\u0004");
    else input.end();
    await expect(asking).rejects.toThrow();
    expect([interruptions, controller.signal.aborted]).toEqual([1, true]);
  });

  test("is given up when interrupted", async () => {
    const controller = new AbortController();
    const asking = askQuestions(
      [{ key: "q1", message: "?" }],
      { input: new PassThrough(), output: new PassThrough() },
      controller.signal,
      () => {},
    );
    controller.abort(new Error("interrupted"));
    await expect(asking).rejects.toThrow();
  });
});

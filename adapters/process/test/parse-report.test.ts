import { describe, expect, it } from "@jest/globals";
import { parseReport } from "../src/parse-report.ts";

const nested = (depth: number): string => `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;

describe("a report line", () => {
  it.each([
    [
      { progress: { done: 3, total: 10, message: "frame 3" } },
      { progress: { done: 3, total: 10, message: "frame 3" } },
    ],
    [{ progress: { done: "3", total: -1, message: "still" } }, { progress: { message: "still" } }],
    [{ progress: { done: 1, speed: 9 }, later: true }, { progress: { done: 1 } }],
    [
      { ask: { key: "a", message: "?", schema: { type: "object" } } },
      { ask: { key: "a", message: "?", schema: { type: "object" } } },
    ],
    [{ ask: { key: "a", message: "?", url: "https://x" } }, { ask: { key: "a", message: "?", url: "https://x" } }],
    [
      { failure: { kind: "protocol", reason: "no", code: "E1" } },
      { failure: { kind: "protocol", reason: "no", code: "E1" } },
    ],
    [{ result: null }, { result: "null" }],
    [
      { result: { a: [1] }, progress: { done: 1 } },
      { result: '{"a":[1]}', progress: { done: 1 } },
    ],
  ])("%j is understood", (line, report) => {
    expect(parseReport(JSON.stringify(line))).toEqual(report);
  });

  it.each([
    ["[".repeat(6000) + "]".repeat(6000)],
    ["[".repeat(400_000) + "]".repeat(400_000)],
    ["1e999"],
    ['{"n": 12345678901234567890}'],
  ])("keeps the result %.30s as it is written", (result) => {
    expect(parseReport(`{"result": ${result} }`)).toEqual({ result });
  });

  it("may ask with a schema of some depth and size", () => {
    expect(parseReport(`{"ask":{"key":"a","message":"?","schema":${nested(100)}}}`)?.ask?.schema).toBeDefined();
    const schema = { title: "x".repeat(64 * 1024 - 12) };
    expect(parseReport(JSON.stringify({ ask: { key: "a", message: "?", schema } }))?.ask).toBeDefined();
  });

  it("tells that it asks in vain, beside what else it says", () => {
    expect(parseReport('{"ask":{"key":"a"},"progress":{"done":1}}')).toEqual({
      progress: { done: 1 },
      isAskRefused: true,
    });
  });

  it.each([
    "",
    "[]",
    "7",
    "{",
    "{}",
    '{"progress":7}',
    '{"progress":{"done":"x"}}',
    '{"progress":{"done":1e999}}',
    '{"ask":{"key":"","message":"?"}}',
    '{"ask":{"key":"a"}}',
    '{"ask":{"key":"a","message":"?","schema":7}}',
    `{"ask":{"key":"a","message":"?","url":"${"x".repeat(5000)}"}}`,
    `{"ask":{"key":"a","message":"?","schema":${nested(101)}}}`,
    `{"ask":{"key":"a","message":"?","schema":${nested(6000)}}}`,
    `{"ask":{"key":"a","message":"?","schema":{"title":"${"é".repeat(33_000)}"}}}`,
    '{"failure":{"kind":"other","reason":"x"}}',
    '{"failure":{"kind":"job","reason":""}}',
  ])("%.60s is log", (json) => {
    expect(parseReport(json)).toBeUndefined();
  });
});

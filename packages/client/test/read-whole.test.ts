import { expect, test } from "@jest/globals";
import type { ToolResult } from "../src/index.ts";
import { readWhole } from "../src/read-whole.ts";

const nobody = (): never => {
  throw new Error("nothing is to be read");
};

test.each<[string, ToolResult, object]>([
  ["a text", { content: [{ type: "text", text: "plain" }] }, { text: "plain" }],
  ["a JSON text", { content: [{ type: "text", text: ' {"a":1}' }] }, { text: ' {"a":1}', json: { a: 1 } }],
  ["what only looks like JSON", { content: [{ type: "text", text: "[x" }] }, { text: "[x" }],
  ["a number is a text", { content: [{ type: "text", text: "5" }] }, { text: "5" }],
  [
    "structured content",
    { content: [{ type: "text", text: "said" }], structuredContent: { a: 1 } },
    { text: "said", json: { a: 1 } },
  ],
  [
    "other blocks",
    {
      content: [
        { type: "text", text: "a" },
        { type: "resource_link", uri: "r://1", name: "one" },
        { type: "image", data: "", mimeType: "image/png" },
      ],
    },
    { text: "a\n[resource_link r://1]\n[image]" },
  ],
  ["nothing", { content: [] }, { text: "" }],
])("%s", async (_what, result, expected) => {
  expect(await readWhole(nobody, result)).toEqual(expected);
});

test("a preview is read whole, part by part", async () => {
  const parts: Record<string, object> = {
    "r://1": { text: '{"a":', _meta: { "taskbridge/nextUri": "r://2" } },
    "r://2": { text: "1}" },
  };
  const read: unknown[] = [];
  const request = async (method: string, { uri }: Readonly<Record<string, unknown>>) => {
    read.push([method, uri]);
    return { contents: [parts[String(uri)]] };
  };
  const preview: ToolResult = { content: [], structuredContent: { resultUri: "r://1" } };
  expect(await readWhole(request, preview)).toEqual({ text: '{"a":1}', json: { a: 1 } });
  expect(read).toEqual([
    ["resources/read", "r://1"],
    ["resources/read", "r://2"],
  ]);
});

test("a part that is no text is bad", async () => {
  const preview: ToolResult = { content: [], structuredContent: { resultUri: "r://1" } };
  for (const contents of [undefined, [], [{ blob: "AA==" }]]) {
    await expect(readWhole(async () => ({ contents }), preview)).rejects.toMatchObject({ code: "bad_response" });
  }
});

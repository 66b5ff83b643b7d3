import { describe, expect, test } from "@jest/globals";
import { toToolResult } from "../src/to-tool-result.ts";
import { aView, succeeded } from "./a-task.ts";

const fits = { check: () => undefined, structured: true };

describe("a job that has succeeded", () => {
  test.each([
    [
      "text",
      succeeded("14 files", "text/plain"),
      undefined,
      { content: [{ type: "text", text: "14 files" }], isError: false },
    ],
    [
      "JSON without a schema is text once",
      succeeded('{"files":14}'),
      undefined,
      { content: [{ type: "text", text: '{"files":14}' }], isError: false },
    ],
    [
      "[S-1] JSON with a published schema is structured as well",
      succeeded('{"files":14}'),
      fits,
      { content: [{ type: "text", text: '{"files":14}' }], structuredContent: { files: 14 }, isError: false },
    ],
    [
      "JSON that is no object is checked, but not structured",
      succeeded("[1]"),
      { ...fits, structured: false },
      { content: [{ type: "text", text: "[1]" }], isError: false },
    ],
    [
      "[S-2] an output that does not fit its schema is an error that still holds it",
      succeeded('{"files":"many"}'),
      { check: () => "files: must be integer", structured: true },
      {
        content: [
          {
            type: "text",
            text: "The job has succeeded, but its output does not fit the tool's output schema: files: must be integer",
          },
          { type: "text", text: '{"files":"many"}' },
        ],
        isError: true,
      },
    ],
    [
      "no output is said in words, never an empty success",
      aView({ state: "succeeded", endedAt: 1 }),
      undefined,
      { content: [{ type: "text", text: "Done, without output." }], isError: false },
    ],
  ])("%s", (_name, view, expectation, result) => {
    expect(toToolResult(view, expectation)).toEqual(result);
  });

  test("no output where a schema promises one is an error", () => {
    expect(toToolResult(aView({ state: "succeeded", endedAt: 1 }), fits).isError).toBe(true);
  });

  test("JSON that cannot be read is an error where a schema promises it", () => {
    expect(toToolResult(succeeded("{oops"), fits)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("it is not JSON") }, { text: "{oops" }],
    });
  });

  test("[S-3] a large result is a preview cut at a character, with a link, and text and structure do not double", () => {
    const view = succeeded(`x${"ä".repeat(8_000)}`, "text/plain", 1_000_000);
    const result = toToolResult(view, fits);
    expect(result.content[0]).toEqual({ type: "text", text: `x${"ä".repeat(4_095)}` });
    expect(result.content[1]).toMatchObject({
      text: expect.stringContaining("taskbridge://tasks/t-1/result?offset=8191"),
    });
    expect(result.content[2]).toEqual({
      type: "resource_link",
      uri: "taskbridge://tasks/t-1/result",
      name: "result of transcode",
      mimeType: "text/plain",
      size: 1_000_000,
    });
    expect(result.structuredContent).toEqual({
      taskId: "t-1",
      resultUri: "taskbridge://tasks/t-1/result",
      resultBytes: 1_000_000,
      resultMediaType: "text/plain",
    });
  });
});

describe("a job that has not", () => {
  test.each([
    [{ kind: "job", reason: "exit code 2: no such file" }, ["exit code 2: no such file"]],
    [{ kind: "job", reason: "timed out", code: "States.Timeout" }, ["timed out (States.Timeout)"]],
    [{ kind: "job", reason: "exit code 2", detail: "stack" }, ["exit code 2", "stack"]],
    [{ kind: "protocol", reason: "lost: the host was restarted" }, ["lost: the host was restarted"]],
  ] as const)("%j", (failure, texts) => {
    expect(toToolResult(aView({ state: "failed", endedAt: 1, failure }))).toEqual({
      content: texts.map((text) => ({ type: "text", text })),
      isError: true,
    });
  });

  test("cancelled", () => {
    expect(toToolResult(aView({ state: "cancelled", endedAt: 1 }))).toMatchObject({ isError: true });
  });

  test("a task that goes on has no result", () => {
    expect(() => toToolResult(aView())).toThrow("has not ended");
  });
});

describe("case 30: a structured result", () => {
  const of = (size: number) => succeeded(JSON.stringify({ pa: "ä".repeat(size) }));

  test("is told as text as well while it is small", () => {
    const result = toToolResult(of(8_000), fits);
    expect(result.content).toEqual([{ type: "text", text: JSON.stringify(result.structuredContent) }]);
  });

  test.each([
    ["resources/read" as const, ""],
    ["task_result" as const, " task_result with taskId t-1 gives it as text."],
  ])("is shown in part when it is large, and said to be whole elsewhere, for %s", (readOn, way) => {
    const { content, structuredContent } = toToolResult(of(9_000), fits, readOn);
    expect(structuredContent).toEqual({ pa: "ä".repeat(9_000) });
    const [shown, note] = content as readonly { text: string }[];
    expect(Buffer.byteLength(shown?.text ?? "")).toBe(4_095);
    expect(shown?.text).not.toContain("\ufffd");
    expect(note?.text).toBe(`These are the first 4095 of 18009 bytes. structuredContent has the whole.${way}`);
  });

  test("that does not fit into one answer is named by the companion where hosts read no resources", () => {
    const view = succeeded("x".repeat(9_000), "text/plain", 100_000);
    const { content, structuredContent } = toToolResult(view, undefined, "task_result");
    expect(content[1]).toEqual({
      type: "text",
      text: "These are the first 8192 of 100000 bytes. Call task_result with taskId t-1 and offset 8192 to read on.",
    });
    expect(structuredContent).toMatchObject({ next: "Call task_result with taskId t-1 to read it." });
  });
});

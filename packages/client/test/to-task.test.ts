import { describe, expect, test } from "@jest/globals";
import { isTaskClientError } from "../src/index.ts";
import { toTask } from "../src/to-task.ts";

const at = "2026-01-01T00:00:00.000Z";
const question = { key: "q", message: "Sure?" };

describe("a task of each wire", () => {
  test.each([
    ["2026-07-28", { pollIntervalMs: 5, ttlMs: null }, { pollIntervalMs: 5, keepAliveMs: null }],
    [
      "2025-11-25",
      { pollInterval: 5, ttl: 10, createdAt: at },
      { pollIntervalMs: 5, keepAliveMs: 10, createdAt: Date.parse(at) },
    ],
    [
      "sep-1686",
      { pollFrequency: 5, keepAlive: 10, error: "oh" },
      { pollIntervalMs: 5, keepAliveMs: 10, message: "oh" },
    ],
  ] as const)("%s", (wire, reported, expected) => {
    expect(toTask(wire, { taskId: "t-1", status: "working", ...reported })).toEqual({
      taskId: "t-1",
      status: "working",
      questions: [],
      ...expected,
    });
  });

  test.each([
    [
      "an error that is an object",
      { status: "failed", error: { message: "no" }, statusMessage: "x" },
      { message: "no" },
    ],
    ["a poll interval below 0", { status: "working", pollIntervalMs: -1 }, {}],
    ["one that is a text", { status: "working", pollIntervalMs: "5" }, {}],
    ["an instant that is none", { status: "working", createdAt: "soon" }, {}],
  ])("%s", (_what, reported, expected) => {
    const {
      taskId: _taskId,
      status: _status,
      questions: _questions,
      ...rest
    } = toTask("2026-07-28", {
      taskId: "t-1",
      ...reported,
    });
    expect(rest).toEqual(expected);
  });

  test("questions are told while it asks only", () => {
    const questionsOf = (status: string) =>
      toTask("2025-11-25", { taskId: "t-1", status }, { questions: [question] }).questions;
    expect(questionsOf("input_required")).toEqual([question]);
    expect(questionsOf("working")).toEqual([]);
  });

  test.each([[null], [[]], [{}], [{ taskId: 5 }], [{ taskId: "t-2", status: "working" }]])("%j is none", (reported) => {
    const act = (): unknown => toTask("2025-11-25", reported, { taskId: "t-1" });
    expect(act).toThrow(expect.objectContaining({ code: "bad_response" }));
    try {
      act();
    } catch (error) {
      expect(isTaskClientError(error)).toBe(true);
    }
  });
});

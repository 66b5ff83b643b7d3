import { describe, expect, test } from "@jest/globals";
import {
  isClientTaskOver,
  parseClientTask,
  parseCreatedTask,
  withClientTask,
} from "../../src/tasks-2025-11-25/client-task.ts";
import { toElicitation } from "../../src/tasks-2025-11-25/to-elicitation.ts";
import { aQuestion } from "../a-task.ts";

const full = {
  taskId: "c-1",
  status: "working",
  createdAt: "2026-07-28T12:00:00Z",
  lastUpdatedAt: "2026-07-28T12:00:00Z",
  ttl: 60_000,
  pollInterval: 500,
};

describe("[B-13] questions as tasks of the client", () => {
  test("are the same request, with a time to keep the task", () => {
    const request = toElicitation(aQuestion(), "t-1", { form: true, url: true });
    if (typeof request === "string") throw new Error(request);
    expect(withClientTask(request, { ttlMs: 60_000 })).toEqual({
      method: "elicitation/create",
      params: { ...request.params, task: { ttl: 60_000 } },
    });
    expect(request.params).not.toHaveProperty("task");
  });

  test.each([
    [{ task: full }, { taskId: "c-1", status: "working", pollIntervalMs: 500 }],
    [full, { taskId: "c-1", status: "working", pollIntervalMs: 500 }],
    [{ task: { taskId: "c-1" } }, { taskId: "c-1", status: "working" }],
    [{ task: { ...full, status: "completed", pollInterval: 0 } }, { taskId: "c-1", status: "completed" }],
    [{ task: { ...full, pollInterval: "soon" } }, { taskId: "c-1", status: "working" }],
  ])("created: %j", (value, task) => {
    expect(parseCreatedTask(value)).toEqual(task);
  });

  test.each([
    [full, { taskId: "c-1", status: "working", pollIntervalMs: 500 }],
    [{ task: { ...full, status: "input_required" } }, { taskId: "c-1", status: "input_required", pollIntervalMs: 500 }],
    [{ status: "cancelled" }, { taskId: "c-1", status: "cancelled" }],
  ])("looked at: %j", (value, task) => {
    expect(parseClientTask(value, "c-1")).toEqual(task);
  });

  test.each([full, { task: full }])("of which another is shown than was asked for: %j", (value) => {
    expect(() => parseClientTask(value, "c-2")).toThrow(/another task/);
  });

  test.each([
    [parseCreatedTask, undefined],
    [parseCreatedTask, "c-1"],
    [parseCreatedTask, []],
    [parseCreatedTask, { action: "accept", content: {} }],
    [parseCreatedTask, { task: { taskId: 7 } }],
    [parseCreatedTask, { task: { taskId: "c-1", status: "submitted" } }],
    [parseClientTask, { taskId: "c-1" }],
    [parseClientTask, { status: "working" }],
    [parseClientTask, { taskId: "c-1", status: "done" }],
    [parseClientTask, { taskId: "c-1", status: null }],
  ])("what is no task is a bad answer (%#)", (read, value) => {
    expect(() => read(value)).toThrow(expect.objectContaining({ code: "bad_response" }));
  });

  test.each([
    ["working", false],
    ["input_required", false],
    ["completed", true],
    ["failed", true],
    ["cancelled", true],
  ] as const)("%s is over: %s", (status, over) => {
    expect(isClientTaskOver(status)).toBe(over);
  });
});

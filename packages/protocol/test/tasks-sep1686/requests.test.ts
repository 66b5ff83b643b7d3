import { describe, expect, test } from "@jest/globals";
import { BridgeError } from "@taskbridge/core";
import {
  carriesSep1686,
  isUsedId,
  parseTaskParams,
  taskMarkPath,
  toUnknownTaskError,
  toUsedIdError,
} from "../../src/tasks-sep1686/index.ts";

const key = "modelcontextprotocol.io/task";
const path = taskMarkPath;
const marked = (mark: unknown): Record<string, unknown> => ({ name: "transcode", _meta: { [key]: mark } });

describe("[M-2] whoever speaks the draft", () => {
  test.each([
    [marked({ taskId: "c-1" }), true],
    [{ taskId: "c-1", _meta: { "modelcontextprotocol.io/related-task": { taskId: "c-1" } } }, true],
    [{ _meta: { "modelcontextprotocol.io/whatever": null } }, true],
    [{ _meta: { "io.modelcontextprotocol/related-task": { taskId: "c-1" } } }, false],
    [{ _meta: { progressToken: 1 } }, false],
    [{ _meta: "modelcontextprotocol.io/task" }, false],
    [{ task: {} }, false],
    [{}, false],
    [undefined, false],
  ])("%j: %j", (params, carries) => {
    expect(carriesSep1686(params)).toBe(carries);
  });
});

describe("[M-3] the mark", () => {
  test.each([
    [undefined, undefined],
    [{}, undefined],
    [{ task: { ttl: 1 } }, undefined],
    [{ _meta: null }, undefined],
    [marked({ taskId: "c-1" }), { taskId: "c-1" }],
    [marked({ taskId: "A.z_0:-9", keepAlive: 120_000 }), { taskId: "A.z_0:-9", retentionMs: 120_000 }],
    [marked({ taskId: "x".repeat(128), keepAlive: 60_000.5 }), { taskId: "x".repeat(128), retentionMs: 60_001 }],
    [marked({ taskId: "c-1", keepAlive: 0 }), { taskId: "c-1", retentionMs: 60_000 }],
    [marked({ taskId: "c-1", keepAlive: 1e300 }), { taskId: "c-1", retentionMs: 1e300 }],
    [marked({ taskId: "c-1", more: true }), { taskId: "c-1" }],
    // Which text can be an ID is not this codec's to say.
    [marked({ taskId: "../.." }), { taskId: "../.." }],
  ])("%j", (params, wish) => {
    expect(parseTaskParams(params)).toEqual(wish);
  });

  test.each([
    [marked(null), path, "got null"],
    [marked("c-1"), path, 'got "c-1"'],
    [marked(["c-1"]), path, "got a list"],
    [marked({}), `${path}.taskId`, "got undefined"],
    [marked({ taskId: 7 }), `${path}.taskId`, "got 7"],
    [marked({ taskId: "x".repeat(10_240).split("") }), `${path}.taskId`, "got a list"],
    [marked({ taskId: "c-1", keepAlive: -1 }), `${path}.keepAlive`, "got -1"],
    [marked({ taskId: "c-1", keepAlive: Number.NaN }), `${path}.keepAlive`, "got NaN"],
    [marked({ taskId: "c-1", keepAlive: Number.POSITIVE_INFINITY }), `${path}.keepAlive`, "got Infinity"],
    [marked({ taskId: "c-1", keepAlive: "60000" }), `${path}.keepAlive`, 'got "60000"'],
    [marked({ taskId: "c-1", keepAlive: null }), `${path}.keepAlive`, "got null"],
    [{ ...marked({ taskId: "c-1" }), task: {} }, "task", "for one generation of tasks"],
    [{ ...marked({ taskId: "c-1" }), task: null }, "task", "for one generation of tasks"],
  ])("%j is refused by the name of its field", (params, field, reported) => {
    const refusal = expect.objectContaining({ code: "invalid_input", data: { path: field } });
    expect(() => parseTaskParams(params)).toThrow(refusal);
    expect(() => parseTaskParams(params)).toThrow(reported);
  });
});

describe("[M-5] an ID that was used before", () => {
  const used = new BridgeError("conflict", "whatever the engine says", { data: { taskId: "c-1" } });

  test("is refused in the draft's words", () => {
    expect(isUsedId(used)).toBe(true);
    expect(toUsedIdError("c-1")).toEqual({ code: -32_602, message: "Task ID already exists: c-1" });
  });

  test.each([new BridgeError("conflict", "another conflict"), new BridgeError("not_found", "Task not found")])(
    "is not %s",
    (error) => {
      expect(isUsedId(error)).toBe(false);
    },
  );
});

describe("[M-11] a task that there is not", () => {
  test.each([
    ["Task not found", undefined],
    ["Task has expired", { data: { expired: true } }],
  ])("%s", (message, options) => {
    expect(toUnknownTaskError(new BridgeError("not_found", message, options))).toEqual({
      code: -32_602,
      message: `Failed to retrieve task: ${message}`,
    });
  });
});

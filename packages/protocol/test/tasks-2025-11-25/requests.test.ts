import { describe, expect, test } from "@jest/globals";
import { BridgeError } from "@taskbridge/core";
import { parseCursor } from "../../src/parse-cursor.ts";
import { parseTaskId } from "../../src/parse-task-id.ts";
import { parseTaskParams } from "../../src/tasks-2025-11-25/parse-task-params.ts";
import { readCapabilities } from "../../src/tasks-2025-11-25/read-capabilities.ts";
import { serverTasksCapability } from "../../src/tasks-2025-11-25/server-tasks-capability.ts";
import { taskSupportFault } from "../../src/tasks-2025-11-25/task-support-fault.ts";
import { toRpcError } from "../../src/to-rpc-error.ts";

const nothing = {
  form: false,
  url: false,
  sampling: false,
  taskElicitation: false,
  taskSampling: false,
  taskCancel: false,
};

describe("[B-1] what the server declares", () => {
  test("names everything that it serves", () => {
    expect(serverTasksCapability(true)).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
  });

  test("is no list where callers cannot be told apart", () => {
    expect(serverTasksCapability(false)).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
  });
});

describe("[B-13] what a client declares", () => {
  test.each([
    [undefined, {}],
    [null, {}],
    ["tasks", {}],
    [[], {}],
    [{}, {}],
    [{ elicitation: {} }, { form: true }],
    [{ elicitation: { form: {} } }, { form: true }],
    [{ elicitation: { url: {} } }, { url: true }],
    [{ elicitation: { form: {}, url: {} } }, { form: true, url: true }],
    [{ elicitation: { form: true, url: {} } }, { url: true }],
    [{ elicitation: true }, {}],
    [{ elicitation: [] }, {}],
    [{ sampling: {} }, { sampling: true }],
    [{ sampling: [] }, {}],
    [{ tasks: {} }, {}],
    [{ tasks: { cancel: {}, list: {} } }, { taskCancel: true }],
    [{ tasks: { requests: { elicitation: {} } } }, {}],
    [{ tasks: { requests: { elicitation: { create: {} } } } }, { taskElicitation: true }],
    [{ tasks: { requests: { sampling: { createMessage: {} } } } }, { taskSampling: true }],
    [{ tasks: { requests: { sampling: { createMessage: true } } } }, {}],
    [{ tasks: [{ cancel: {} }] }, {}],
  ])("%j", (declared, capabilities) => {
    expect(readCapabilities(declared)).toEqual({ ...nothing, ...capabilities });
  });
});

describe("[B-2] tools and tasks", () => {
  test.each([
    ["optional", true],
    ["optional", false],
    ["required", true],
    ["forbidden", false],
  ] as const)("%s, with a task: %s, is served", (support, hasTask) => {
    expect(taskSupportFault("transcode", support, hasTask)).toBeUndefined();
  });

  test.each([
    ["required", false, /^transcode can only be called as a task: .*"task": \{\}/],
    ["forbidden", true, /^transcode cannot be called as a task: .*without "task"/],
  ] as const)("%s, with a task: %s, is no method", (support, hasTask, message) => {
    expect(taskSupportFault("transcode", support, hasTask)).toEqual({
      code: -32_601,
      message: expect.stringMatching(message),
    });
  });
});

describe("[B-3] params.task", () => {
  test.each([
    [undefined, undefined],
    [{ name: "transcode" }, undefined],
    [{ _meta: { "modelcontextprotocol.io/task": { taskId: "c-1" } } }, undefined],
    [{ task: {} }, {}],
    [{ task: { ttl: null } }, {}],
    [{ task: { ttl: 120_000 } }, { retentionMs: 120_000 }],
    [{ task: { ttl: 120_000.25 } }, { retentionMs: 120_001 }],
    [{ task: { ttl: 0 } }, { retentionMs: 60_000 }],
    [{ task: { ttl: 59_999.5 } }, { retentionMs: 60_000 }],
    [{ task: { ttl: 1e300 } }, { retentionMs: 1e300 }],
    [{ task: { ttl: 90_000, unknown: true }, _meta: { progressToken: 1 } }, { retentionMs: 90_000 }],
    [{ task: {}, _meta: null }, {}],
  ])("%j", (params, wish) => {
    expect(parseTaskParams(params)).toEqual(wish);
  });

  test.each([
    [{ task: null }, "task", "got null"],
    [{ task: true }, "task", "got true"],
    [{ task: [] }, "task", "got a list"],
    [{ task: { ttl: "60000" } }, "task.ttl", 'got "60000"'],
    [{ task: { ttl: -1 } }, "task.ttl", "got -1"],
    [{ task: { ttl: Number.NaN } }, "task.ttl", "got NaN"],
    [{ task: { ttl: Number.POSITIVE_INFINITY } }, "task.ttl", "got Infinity"],
    [{ task: { ttl: {} } }, "task.ttl", "got an object"],
    [{ task: { ttl: [60_000] } }, "task.ttl", "got a list"],
    [{ task: { ttl: "9".repeat(1_000) } }, "task.ttl", `got "${"9".repeat(59)}…`],
    [{ task: {}, _meta: { "modelcontextprotocol.io/task": { taskId: "c-1" } } }, "task", "for one generation of tasks"],
  ])("%j is refused by the name of its field", (params, path, reported) => {
    const refusal = expect.objectContaining({
      code: "invalid_input",
      data: { path },
      message: expect.stringMatching(new RegExp(`^${path}: `)),
    });
    expect(() => parseTaskParams(params)).toThrow(refusal);
    expect(() => parseTaskParams(params)).toThrow(reported);
  });
});

describe("[B-10] IDs and cursors", () => {
  test.each([[undefined], [{}], [{ cursor: null }]])("%j is the first page", (params) => {
    expect(parseCursor(params)).toBeUndefined();
  });

  test("are text, whatever it says", () => {
    expect(parseCursor({ cursor: "" })).toBe("");
    expect(parseTaskId({ taskId: "" })).toBe("");
  });

  test.each([[1], [true], [{}], [["c"]]])("a cursor is not %j", (cursor) => {
    expect(() => parseCursor({ cursor })).toThrow(
      expect.objectContaining({ code: "invalid_input", data: { path: "cursor" } }),
    );
  });

  test("what they do not name is an error of the parameters", () => {
    expect(toRpcError(new BridgeError("not_found", "Task not found"))).toEqual({
      code: -32_602,
      message: "Task not found",
    });
    expect(toRpcError(new BridgeError("internal", "x is undefined"))).toMatchObject({ code: -32_603 });
  });

  test("related-task metadata of a request says nothing about which task is meant", () => {
    const _meta = { "io.modelcontextprotocol/related-task": { taskId: "t-2" } };
    expect(parseTaskId({ taskId: "t-1", _meta })).toBe("t-1");
    expect(() => parseTaskId({ _meta })).toThrow("taskId: text is needed");
  });
});

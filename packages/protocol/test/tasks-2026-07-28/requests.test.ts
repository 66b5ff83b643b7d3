import { describe, expect, test } from "@jest/globals";
import { BridgeError, type BridgeErrorCode, retryability } from "@taskbridge/core";
import { parseTaskId } from "../../src/parse-task-id.ts";
import {
  acknowledgedId,
  honoursNothing,
  parseListenRequest,
  parseTaskIds,
  toGracefulEnd,
  toTaskNotification,
  withTaskIds,
} from "../../src/tasks-2026-07-28/listen.ts";
import { readCapabilities } from "../../src/tasks-2026-07-28/read-capabilities.ts";
import { toDetailedTask } from "../../src/tasks-2026-07-28/to-detailed-task.ts";
import { toRpcError } from "../../src/to-rpc-error.ts";
import { aView } from "../a-task.ts";

describe("[A-2] declared capabilities", () => {
  const tasks = { "io.modelcontextprotocol/tasks": {} };
  test.each([
    [undefined, { tasks: false, form: false, url: false }],
    [null, { tasks: false, form: false, url: false }],
    ["tasks", { tasks: false, form: false, url: false }],
    [{ extensions: tasks }, { tasks: true, form: false, url: false }],
    [{ extensions: { "io.modelcontextprotocol/tasks": true } }, { tasks: false, form: false, url: false }],
    [{ tasks: {} }, { tasks: false, form: false, url: false }],
    [{ elicitation: {} }, { tasks: false, form: true, url: false }],
    [{ elicitation: { form: {} } }, { tasks: false, form: true, url: false }],
    [{ elicitation: { url: {} } }, { tasks: false, form: false, url: true }],
    [
      { elicitation: { form: {}, url: {} }, extensions: tasks },
      { tasks: true, form: true, url: true },
    ],
  ])("%j", (declared, capabilities) => {
    expect(readCapabilities(declared)).toEqual(capabilities);
  });
});

describe("[A-4] a task ID", () => {
  test("is text", () => {
    expect(parseTaskId({ taskId: "" })).toBe("");
  });

  test.each([[undefined], [{}], [{ taskId: 1 }], [{ taskId: null }], [{ taskId: ["t"] }]])("not %j", (params) => {
    expect(() => parseTaskId(params)).toThrow(
      expect.objectContaining({ code: "invalid_input", data: { path: "taskId" } }),
    );
  });
});

describe("errors", () => {
  test("every code has one of JSON-RPC", () => {
    const codes = Object.keys(retryability) as BridgeErrorCode[];
    for (const code of codes) expect(Number.isInteger(toRpcError(new BridgeError(code, "m")).code)).toBe(true);
  });

  test.each([
    [new BridgeError("not_found", "Task not found"), { code: -32_602, message: "Task not found" }],
    [
      new BridgeError("invalid_input", "url: must be text", { data: { path: "url", token: "s3cret" } }),
      { code: -32_602, message: "url: must be text", data: { path: "url" } },
    ],
    [
      new BridgeError("limit_exceeded", "10 tasks are running", {
        retryAfterMs: 500,
        data: { openTaskIds: ["a"], scope: "owner" },
      }),
      {
        code: 429,
        message: "10 tasks are running",
        data: { reason: "limit_exceeded", openTaskIds: ["a"], scope: "owner", retryAfterMs: 500 },
      },
    ],
    [
      new BridgeError("unavailable", "the database is locked", { retryAfterMs: 100 }),
      { code: 503, message: "the database is locked", data: { reason: "unavailable", retryAfterMs: 100 } },
    ],
    [
      new BridgeError("unavailable", "10.1.2.3:6379 does not answer", { operation: "read" }),
      {
        code: 503,
        message: "the server cannot use its store of tasks at present; the tasks go on; try again later",
        data: { reason: "unavailable", retryAfterMs: 1_000 },
      },
    ],
    [
      new BridgeError("internal", "cannot read x of undefined at /srv/secret.ts"),
      { code: -32_603, message: "Internal error", data: { reason: "internal" } },
    ],
  ])("%s", (error, rpc) => {
    expect(toRpcError(error)).toEqual(rpc);
  });
});

describe("[L-1] listening", () => {
  const request = (notifications: unknown) => ({
    jsonrpc: "2.0",
    id: 7,
    method: "subscriptions/listen",
    params: { notifications, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
  });

  test("only a request for tasks is one", () => {
    expect(parseListenRequest(request({ taskIds: ["a"] }))).toEqual({
      id: 7,
      taskIds: ["a"],
      capabilities: { tasks: false, form: false, url: false },
      version: "2026-07-28",
    });
    for (const other of [
      request({ toolsListChanged: true }),
      request(undefined),
      { method: "tools/list" },
      null,
      "x",
      [],
    ]) {
      expect(parseListenRequest(other)).toBeUndefined();
    }
  });

  test.each([["a"], [[1]], [{ a: 1 }], [null]])("task IDs are a list of texts, not %j", (taskIds) => {
    expect(() => parseTaskIds(taskIds, 10)).toThrow("notifications.taskIds: a list of texts is needed");
  });

  test("each ID counts once, and there is a most", () => {
    expect(parseTaskIds(["a", "a", "b"], 2)).toEqual(["a", "b"]);
    expect(() => parseTaskIds(["a", "b", "c"], 2)).toThrow("at most 2");
  });

  test("frames carry the subscription", () => {
    const acknowledgement = {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: {}, _meta: { "io.modelcontextprotocol/subscriptionId": "L1" } },
    } as const;
    expect(acknowledgedId(acknowledgement)).toBe("L1");
    expect(honoursNothing(acknowledgement)).toBe(true);
    expect(honoursNothing(withTaskIds(acknowledgement, ["a"]))).toBe(false);
    expect(withTaskIds(acknowledgement, ["a"]).params).toEqual({
      notifications: { taskIds: ["a"] },
      _meta: { "io.modelcontextprotocol/subscriptionId": "L1" },
    });
    const task = toDetailedTask(aView(), { tasks: true, form: false, url: false });
    expect(toTaskNotification("L1", task)).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tasks",
      params: { ...task, _meta: { "io.modelcontextprotocol/subscriptionId": "L1" } },
    });
    expect(toGracefulEnd("L1", { name: "s", version: "1" })).toEqual({
      jsonrpc: "2.0",
      id: "L1",
      result: {
        resultType: "complete",
        _meta: {
          "io.modelcontextprotocol/subscriptionId": "L1",
          "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" },
        },
      },
    });
  });
});

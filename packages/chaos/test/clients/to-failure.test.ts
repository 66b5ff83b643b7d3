import { expect, it } from "@jest/globals";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { TaskClientError } from "@taskbridge/client";
import { UnknownTaskError } from "../../src/clients/plain-host.ts";
import { toFailure } from "../../src/clients/to-failure.ts";

const refused = (code: number, message: string, data?: unknown): TaskClientError =>
  new TaskClientError("refused", message, { rpc: { code, message, ...(data === undefined ? {} : { data }) } });
const fetchFailed = Object.assign(new TypeError("fetch failed"), {
  cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }),
});

it.each([
  ["our client: no such task", new TaskClientError("not_found", "Task not found"), "unknown task"],
  ["SDK 1: no such task", new McpError(-32_602, "Task not found"), "unknown task"],
  ["a host without tasks: no such task", new UnknownTaskError("Task not found"), "unknown task"],
  ["our client: the server is away", new TaskClientError("unreachable", "HTTP 503"), "unavailable"],
  [
    "a store that is away",
    refused(-32_603, "not available", { reason: "unavailable", retryAfterMs: 500 }),
    "unavailable",
  ],
  ["SDK 1: a store that is away", new McpError(-32_603, "not available", { reason: "unavailable" }), "unavailable"],
  ["an internal error", refused(-32_603, "Internal error"), "wrong"],
  ["SDK 1: an internal error", new McpError(-32_603, "Internal error"), "wrong"],
  ["a result that is none", new TaskClientError("bad_response", "no taskId"), "wrong"],
  ["a refusal", refused(-32_602, "arguments: call is missing"), "refused"],
  ["SDK 1: the result of a cancelled task", new McpError(-32_603, "Task was cancelled"), "cancelled"],
  ["SDK 1: the session is gone", Object.assign(new Error("Error POSTing to endpoint"), { code: 404 }), "gone"],
  ["SDK 1: its own timeout", new McpError(-32_001, "Request timed out"), "unavailable"],
  ["a lost connection", fetchFailed, "unavailable"],
])("%s", (_name, error, kind) => {
  expect(toFailure(error).kind).toBe(kind);
});

it("says the same of the same, whichever task it is about", () => {
  const of = (taskId: string) => toFailure(new McpError(-32_602, `Task not found: "${taskId}"`));
  expect(of("3ba5f170e09dab168b0dd31605c4fb2ac946777c")).toEqual(of("7180c7b645e281c150e5f78681306f9af7a1697f"));
});

import { describe, expect, test } from "@jest/globals";
import type { Message } from "../rpc-client.ts";
import type { Line } from "./conversation.ts";
import { dialect20251125 } from "./dialect-2025-11-25.ts";
import { dialect20260728 } from "./dialect-2026-07-28.ts";
import { goldenWires } from "./golden-wires.ts";
import { findFault } from "./official-schemas.ts";
import { readTranscript } from "./transcript-file.ts";
import { validateLines } from "./validate-lines.ts";

/** Members that the official definitions leave to the sender. */
const optional: ReadonlySet<string> = new Set([
  ...["_meta", "data", "statusMessage", "pollIntervalMs", "instructions", "isError", "structuredContent"],
  // Of an InputRequiredResult one of the two is enough, which its definition does not say.
  ...["inputRequests", "requestState"],
  ...["total", "params.message"],
  // Of 2025-11-25.
  ...["pollInterval", "nextCursor", "params.mode", "params.task", "systemPrompt", "params.requestId", "reason"],
  // Of the SEP-1686 draft.
  "pollFrequency",
]);
/** Members that may have any value. */
const free: ReadonlySet<string> = new Set(["data", "structuredContent"]);

/** The recorded lines, with the stand-ins made to look like what they stand for. */
const linesOf = (name: string): readonly Line[] =>
  (readTranscript(name) ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line.replaceAll(/<(\w+-\d+)>/g, "$1")) as { from: Line["from"]; message?: Message })
    .map(({ from, message }) => ({ from, ...(message === undefined ? {} : { text: JSON.stringify(message) }) }));

type Json = Record<string, unknown>;

/** Every way to take one member out of what a message says, or to give one another type. */
const mangle = (message: Message): readonly (readonly [what: string, mangled: object])[] =>
  (["result", "error", "params"] as const).flatMap((part) => {
    const body = message[part] as Json | undefined;
    if (body === undefined) return [];
    return Object.entries(body).flatMap(([name, value]) => {
      const { [name]: _out, ...without } = body;
      const wrong = typeof value === "object" && value !== null ? 7 : { wrong: true };
      return [
        ...(optional.has(name) || optional.has(`${part}.${name}`)
          ? []
          : [[`without ${part}.${name}`, { ...message, [part]: without }] as const]),
        ...(free.has(name)
          ? []
          : [[`wrong ${part}.${name}`, { ...message, [part]: { ...body, [name]: wrong } }] as const]),
      ];
    });
  });

describe.each(goldenWires)("$name", ({ name: wire, dialect, scenarios }) => {
  test.each(scenarios)("$name: a message that lacks something or has it wrong is refused", ({ name }) => {
    const lines = linesOf(`${wire}/${name}`);
    expect(validateLines(lines, dialect)).toEqual([]);
    const asked = lines.filter(({ from }) => from === "client");
    let refused = 0;
    for (const [index, { from, text }] of lines.entries()) {
      if (from === "client" || text === undefined) continue;
      for (const [what, mangled] of mangle(JSON.parse(text) as Message)) {
        const faults = validateLines([...asked, { from, text: JSON.stringify(mangled) }], dialect);
        expect([index + 1, what, faults.length > 0]).toEqual([index + 1, what, true]);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(0);
  });

  test.each([
    ["a notification", { jsonrpc: "2.0", method: "notifications/unheard" }],
    ["a request", { jsonrpc: "2.0", id: 1, method: "ping" }],
    ["an error", { jsonrpc: "2.0", id: 1, error: { code: -32_000, message: "oops" } }],
    ["an answer to nothing", { jsonrpc: "2.0", id: 2, result: { resultType: "complete" } }],
    ["an answer to what nobody thought of", { jsonrpc: "2.0", id: 1, result: { resultType: "complete" } }],
  ])("%s without a definition is refused", (_what, message) => {
    const asked: Line = { from: "client", text: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "unheard/of" }) };
    const faults = validateLines([asked, { from: "server", text: JSON.stringify(message) }], dialect);
    expect(faults).toEqual([expect.stringContaining("line 2: no definition is named for")]);
  });
});

describe("what a task of 2026-07-28 brings along", () => {
  const task = { resultType: "complete", taskId: "t", createdAt: "", lastUpdatedAt: "", ttlMs: null };
  test.each([
    ["completed without content", { status: "completed", result: { isError: false } }, "CallToolResult"],
    [
      "completed with content of no kind",
      { status: "completed", result: { content: [{ type: "x" }] } },
      "CallToolResult",
    ],
    ["failed for no reason", { status: "failed", error: { code: -32_603 } }, "Error"],
    ["asking nothing", { status: "input_required" }, "GetTaskResult"],
    ["asking in no way", { status: "input_required", inputRequests: { q: { method: "x" } } }, "GetTaskResult"],
    ["in no state", { status: "done" }, "GetTaskResult"],
  ])("%s is refused", (_what, more, definition) => {
    const [got, answer] = [
      { jsonrpc: "2.0", id: 1, method: "tasks/get" },
      { jsonrpc: "2.0", id: 1, result: { ...task, ...more } },
    ].map((message) => JSON.stringify(message));
    const faults = validateLines(
      [
        { from: "client", text: String(got) },
        { from: "server", text: String(answer) },
      ],
      dialect20260728,
    );
    expect(faults.join("; ")).toContain(`${definition}: `);
  });
});

/** A copy in which the member at the path has another value; undefined takes it out. */
const withMember = (value: unknown, [name, ...rest]: readonly string[], member: unknown): unknown => {
  if (name === undefined) return member;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (String(index) === name ? withMember(item, rest, member) : item));
  const body = value as Json;
  return { ...body, [name]: withMember(body[name], rest, member) };
};

const hasMember = (value: unknown, [name, ...rest]: readonly string[]): boolean =>
  name === undefined ||
  (typeof value === "object" && value !== null && name in value && hasMember((value as Json)[name], rest));

describe("what the official packages leave out is refused", () => {
  const serverInfo = ["result", "_meta", "io.modelcontextprotocol/serverInfo"];
  const form = (key: string) => ["result", "inputRequests", key, "params", "requestedSchema"];
  test.each<[file: string, method: string, path: readonly string[], member: unknown]>([
    ["2026-07-28/create", "server/discover", [...serverInfo, "name"], undefined],
    ["2026-07-28/create", "server/discover", ["result", "resultType"], "task"],
    ["2026-07-28/create", "server/discover", ["result", "cacheScope"], "shared"],
    ["2026-07-28/create", "tools/list", ["result", "ttlMs"], 1.5],
    ["2026-07-28/create", "tools/call", ["result", "status"], "done"],
    ["2026-07-28/large-result", "tasks/get", ["result", "result", "content", "2", "uri"], "no URI"],
    ["2026-07-28/large-result", "resources/read", ["result", "contents", "0", "uri"], "no URI"],
    ["2026-07-28/question", "tasks/get", form("q2"), { type: "array" }],
    ["2026-07-28/question", "tasks/get", [...form("q2"), "properties"], undefined],
    ["2026-07-28/question-before-the-task", "tools/call", [...form("who"), "properties"], { who: { type: "object" } }],
    ["2026-07-28/listen", "notifications/tasks", ["params", "_meta", "io.modelcontextprotocol/subscriptionId"], {}],
    ["2025-11-25/create", "tools/call", ["result", "task", "ttl"], 1.5],
    ["2025-11-25/create", "tools/call", ["result", "task", "status"], "done"],
    ["2025-11-25/poll", "tasks/get", ["result", "pollInterval"], 1.5],
    ["2025-11-25/list", "tasks/list", ["result", "tasks", "0", "ttl"], 1.5],
    ["2025-11-25/status-notifications", "notifications/tasks/status", ["params", "ttl"], 1.5],
    ["2025-11-25/large-result", "tasks/result", ["result", "content", "2", "uri"], "no URI"],
    ["2025-11-25/large-result", "resources/read", ["result", "contents", "0", "uri"], "no URI"],
  ])("%s: %s with another %j", (file, method, path, member) => {
    const dialect = file.startsWith("2026") ? dialect20260728 : dialect20251125;
    const lines = linesOf(file);
    const asked = lines.filter(({ from }) => from === "client");
    const isAnswer = (message: Message): boolean =>
      message.method === method ||
      asked.some(({ text = "{}" }) => {
        const request = JSON.parse(text) as Message;
        return request.id === message.id && request.method === method;
      });
    const faults = lines
      .filter(({ from }) => from === "server")
      .map(({ text = "{}" }) => JSON.parse(text) as Message)
      .filter((message) => isAnswer(message) && hasMember(message, path))
      .map((message) => JSON.stringify(withMember(message, path, member)))
      .map((text) => validateLines([...asked, { from: "server", text }], dialect));
    expect(faults).not.toEqual([]);
    expect(faults.filter((found) => found.length === 0)).toEqual([]);
  });
});

describe("what 2025-11-25 says beside its definitions", () => {
  const related = { _meta: { "io.modelcontextprotocol/related-task": { taskId: 7 } } };
  const content = [{ type: "text", text: "14" }];
  const form = { message: "Sure?", requestedSchema: { type: "object", properties: {} } };
  test.each([
    ["a result of a task that is no result of a call", { id: 1, result: {} }, "CallToolResult"],
    ["a result of a task that does not say of which", { id: 1, result: { content } }, "RelatedTaskMetadata"],
    [
      "a question of a task that is none",
      { id: 0, method: "elicitation/create", params: { ...form, ...related } },
      "RelatedTaskMetadata",
    ],
    [
      "a question with a schema that is no form",
      { id: 0, method: "elicitation/create", params: { ...form, requestedSchema: { type: "array" } } },
      "ElicitRequest",
    ],
    ["a request with an ID that is none", { id: null, method: "tasks/get", params: { taskId: "t" } }, "JSONRPCRequest"],
    ["an answer without ID", { error: { code: -32_602, message: "Task not found" } }, "no definition"],
  ])("%s is refused", (_what, message, definition) => {
    const asked = { jsonrpc: "2.0", id: 1, method: "tasks/result", params: { taskId: "t" } };
    const faults = validateLines(
      [
        { from: "client", text: JSON.stringify(asked) },
        { from: "server", text: JSON.stringify({ jsonrpc: "2.0", ...message }) },
      ],
      dialect20251125,
    );
    expect(faults.join("; ")).toContain(definition);
  });
});

test("a definition that does not exist is no pass", () => {
  for (const schema of ["2025-11-25", "2026-07-28", "ext-tasks", "sep-1686"] as const) {
    expect(() => findFault({ schema, definition: "Unheard", value: {} })).toThrow("Unheard");
  }
});

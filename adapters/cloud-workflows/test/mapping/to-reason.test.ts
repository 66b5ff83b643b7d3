import { expect, test } from "@jest/globals";
import { toReason } from "../../src/mapping/to-reason.ts";

const stack = [
  { routine: "fetch", step: "get", line: 12 },
  { routine: "main", step: "call_fetch", line: 3 },
];
const context = 'in step "get", routine "fetch", line: 12\nin step "call_fetch", routine "main", line: 3';
const raised = (payload: unknown, more: object = {}) => ({
  payload: typeof payload === "string" ? payload : JSON.stringify(payload),
  context: "",
  stack: [],
  ...more,
});

test.each([
  ["a text that was raised", raised('"no such file"'), { reason: "no such file" }],
  [
    "an HTTP error of Google's",
    raised({ message: "HTTP server responded with error code 404", code: 404, tags: ["HttpError"], headers: {} }),
    { reason: "HTTP server responded with error code 404", code: "HttpError" },
  ],
  ["a map of the author's", raised({ code: 17, message: "too large" }), { reason: "too large (17)", code: "17" }],
  [
    "an answer's own error",
    raised({ code: 403, body: { error: { message: "quota" } }, tags: [] }),
    { reason: "quota (403)", code: "403" },
  ],
  ["a map that says nothing we know", raised({ a: 1 }), { reason: '{"a":1}' }],
  ["what is no JSON", raised("{oops"), { reason: "{oops" }],
  ["nothing", raised(""), { reason: "failed without an error" }],
  [
    "only where",
    raised("", { context: "RuntimeError: stop\nin step x" }),
    { reason: "RuntimeError: stop", detail: "RuntimeError: stop\nin step x" },
  ],
])("reads %s", (_name, error, reported) => {
  expect(toReason(error)).toEqual(reported);
});

test("says where it happened, and how it came there", () => {
  expect(toReason(raised('"stop"', { stack, context }))).toEqual({
    reason: "stop (in step get of fetch, line 12)",
    detail: context,
  });
  expect(toReason(raised('"stop"', { stack })).detail).toBe(context);
});

test("is one short line without control characters and without callbacks' addresses", () => {
  const address =
    "https://workflowexecutions.googleapis.com/v1/projects/p/locations/l/workflows/w/executions/e/callbacks/secret";
  const { reason, detail } = toReason(
    raised(JSON.stringify(`a\u001b[31m\n\tb ${address} ${"x".repeat(9_000)}`), { context: `at ${address}\n\u0007end` }),
  );
  expect(reason).toMatch(/^a \[31m b \[callback\] x+$/);
  expect(reason.length).toBeLessThanOrEqual(400);
  expect(detail).toBe("at [callback]\n end");
});

test("takes a payload that is nested deep, or is megabytes", () => {
  const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  expect(toReason(raised(deep)).reason).toContain("[[[[");
  expect(toReason(raised({ message: "m".repeat(5_000_000) })).reason).toHaveLength(400);
});

test("reads no more of a text than a person would", () => {
  const started = performance.now();
  const text = "http://projects/a/locations/".repeat(100_000);
  const { reason, code, detail } = toReason(raised({ message: text, code: text }, { context: text }));
  expect([reason.length, code?.length, detail?.length]).toEqual([400, 100, 3_000]);
  expect(performance.now() - started).toBeLessThan(1_000);
});

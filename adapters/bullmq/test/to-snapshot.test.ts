import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import type { ExecutionSnapshot } from "@taskbridge/core/adapter";
import { parseProgress } from "../src/mapping/parse-progress.ts";
import { toQueueRead } from "../src/mapping/to-queue-read.ts";
import { lastStack, toFailure, toSnapshot } from "../src/mapping/to-snapshot.ts";
import type { JobRow } from "../src/redis/client.ts";

/** What Redis 7.0 replied to the script, by what became of the job. */
const replies: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(new URL("./fixtures/replies.json", import.meta.url), "utf8"),
);

const read = (name: string) => {
  const { rows, isPaused, exists } = toQueueRead([replies[name]]);
  return { row: rows[0] as JobRow, isPaused, exists };
};

const expected: Readonly<Record<string, Partial<ExecutionSnapshot>>> = {
  waiting: { status: "queued", questions: [], progress: { message: "waits for one of 2 connected workers" } },
  delayed: { status: "queued", questions: [], progress: { message: "delayed until 2026-11-29T19:09:28.089Z" } },
  prioritized: { status: "queued", questions: [], progress: { message: "waits for one of 2 connected workers" } },
  "waiting in a paused queue": { status: "queued", questions: [], progress: { message: "the queue is paused" } },
  active: {
    status: "running",
    questions: [],
    progress: { done: 1, total: 2 },
    startedAt: 1795975768115,
  },
  completed: {
    status: "succeeded",
    questions: [],
    startedAt: 1795975768141,
    endedAt: 1795975768144,
    output: { kind: "json", value: { files: 14 } },
  },
  "completed with nothing": { status: "succeeded", questions: [], startedAt: 1795975768168, endedAt: 1795975768175 },
  "completed with a large result": {
    status: "succeeded",
    questions: [],
    startedAt: 1795975768200,
    endedAt: 1795975768204,
    output: { kind: "stream", bytes: 70_002, mediaType: "application/json" },
  },
  failed: {
    status: "failed",
    questions: [],
    startedAt: 1795975768240,
    endedAt: 1795975768242,
    failure: { kind: "job", reason: "no such file", code: "TypeError" },
  },
  "delayed for another attempt": {
    status: "queued",
    questions: [],
    startedAt: 1795975768264,
    progress: { message: expect.stringMatching(/^attempt 2 of 3 to come; delayed until 2026/) as unknown as string },
  },
  asking: {
    status: "waiting",
    startedAt: 1795975768292,
    questions: [
      {
        id: "approve#1",
        message: "Delete 14 files?",
        schema: { type: "object" },
        expiresAt: expect.any(Number) as unknown as number,
      },
    ],
  },
  "asking, answered": {
    status: "queued",
    questions: [],
    startedAt: 1795975768292,
    progress: { message: "answered, about to go on" },
  },
  gone: { status: "cancelled", questions: [], failure: { kind: "job", reason: "enough" } },
  "failed after a cancel": {
    status: "cancelled",
    questions: [],
    startedAt: 1795975768325,
    endedAt: 1795975768327,
    failure: { kind: "job", reason: "no such file", code: "TypeError" },
  },
  "waiting for children": { status: "running", questions: [], progress: { done: 1, total: 2 } },
};

describe("a job in Redis", () => {
  it.each(Object.keys(expected))("that is %s", (name) => {
    const { row, isPaused } = read(name);
    expect(toSnapshot(row, { isPaused, workers: 2 })).toEqual(expected[name]);
  });

  it("that is missing", () => {
    expect(read("missing")).toMatchObject({ exists: true, row: { state: "missing" } });
  });

  it("has an expectation for every reply", () => {
    expect([...Object.keys(expected), "missing"].sort()).toEqual(Object.keys(replies).sort());
  });

  it("asks in a field of its own, rather than in its progress", () => {
    const { row, isPaused } = read("asking");
    const asking = { ...row, question: '{"id":"other#1","message":"Really?"}', progress: '{"done":1,"question":7}' };
    expect(toSnapshot(asking, { isPaused })).toMatchObject({
      status: "waiting",
      progress: { done: 1 },
      questions: [{ id: "other#1", message: "Really?" }],
    });
    expect(toSnapshot({ ...asking, question: "{" }, { isPaused }).status).toBe("queued");
  });

  it("tells its stack apart from what models read", () => {
    const { row, isPaused } = read("failed");
    expect(lastStack(row)).toContain("TypeError: no such file\nsecond line\n");
    expect(JSON.stringify(toSnapshot(row, { isPaused }))).not.toContain("file://");
  });

  it("began no later than it ended, whatever two machines' clocks say", () => {
    const { row, isPaused } = read("completed");
    const { startedAt, endedAt } = toSnapshot({ ...row, processedOn: 1795975768999 }, { isPaused });
    expect(startedAt).toBe(endedAt);
  });

  it.each([
    ["no list", "{}"],
    ["no JSON", "["],
    ["a list of others", "[7]"],
  ])("may have a stack trace that is %s", (_name, stacktrace) => {
    expect(lastStack({ ...read("failed").row, stacktrace })).toBeUndefined();
  });
});

it.each([
  [undefined, undefined, "the job failed without a reason"],
  ["", undefined, "the job failed without a reason"],
  ["x".repeat(999), undefined, "x".repeat(300)],
  ["\u001b[31mno such\u0000 file\u001b[0m\nsecond", undefined, "no such file"],
])("a reason %j of a failure is %s", (text, _stack, reason) => {
  expect(toFailure(text, undefined)).toEqual({ kind: "job", reason });
});

describe("progress", () => {
  it.each([
    [undefined, {}],
    ["null", {}],
    ["0", { progress: { done: 0, total: 100 } }],
    ["55.5", { progress: { done: 55.5, total: 100 } }],
    ["101", { progress: { done: 101 } }],
    ["-3", { progress: { message: "-3" } }],
    ['"step 2"', { progress: { message: "step 2" } }],
    ["[1,2]", { progress: { message: "[1,2]" } }],
    ["{not json", { progress: { message: "{not json" } }],
    ['{"done":1}', { progress: { done: 1 } }],
    ['{"done":-1,"message":"m"}', { progress: { message: "m" } }],
    ['{"message":"m","extra":1}', { progress: { message: "m" } }],
    ['{"percent":3}', { progress: { message: '{"percent":3}' } }],
    ["{}", {}],
    ['{"question":{"id":"q#1","message":"Go?"}}', { question: { id: "q#1", message: "Go?" } }],
    [
      '{"step":3,"question":{"id":"q#1","message":"Go?"}}',
      { progress: { message: '{"step":3}' }, question: { id: "q#1", message: "Go?" } },
    ],
    ['{"question":{"id":"q#1","message":" "}}', {}],
    ['{"question":{"id":7,"message":"Go?"}}', {}],
    ['{"question":{"id":"q","message":"Go?","schema":[],"expiresAt":"x"}}', { question: { id: "q", message: "Go?" } }],
    ['{"done":5,"total":2}', { progress: { done: 5 } }],
    ['{"done":0,"total":0}', { progress: { done: 0, total: 0 } }],
    [
      '{"message":"\\u0007\\u001b[31mred\\u001b[0m\\r\\n  two\\tlines\\u0000"}',
      { progress: { message: "red two lines" } },
    ],
    ['"one\\n\\ntwo"', { progress: { message: "one two" } }],
    ['"\\n"', {}],
    ['{"message":"\\u0001"}', {}],
    [`"${"x".repeat(299)}\\ud83d\\ude42"`, { progress: { message: "x".repeat(299) } }],
  ])("%s", (json, parsed) => {
    expect(parseProgress(json)).toEqual(parsed);
  });
});

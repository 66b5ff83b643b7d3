import { describe, expect, it } from "@jest/globals";
import { asAdapterId, asExecutionRef, asOwnerId, asStartKey, asTaskId } from "../../../src/contract/identity.ts";
import type { TaskRecord, TaskState } from "../../../src/contract/task-record.ts";
import { withEffect } from "../../../src/engine/state/effects.ts";
import { closeQuestions, openQuestions } from "../../../src/engine/state/questions.ts";
import { applySnapshot, endTask, failTask, transitionTable, wakeAtOf } from "../../../src/engine/state/transitions.ts";

const record = (change: Partial<TaskRecord> = {}): TaskRecord => ({
  schema: 1,
  taskId: asTaskId("t1"),
  revision: 1,
  owner: asOwnerId("local"),
  tool: "tool",
  adapterId: asAdapterId("a"),
  target: {},
  startKey: asStartKey("mcp-0"),
  policy: { pollIntervalMs: 100, retentionMs: 1_000, maxRunMs: null, questionTimeoutMs: null, onUnknownStart: "fail" },
  state: "running",
  createdAt: 1_000,
  updatedAt: 1_000,
  start: { deadlineAt: 9_000 },
  ref: asExecutionRef("r"),
  questions: [],
  effects: [],
  minted: 0,
  slotHeld: true,
  wakeAt: null,
  ...change,
});

const open: readonly TaskState[] = ["queued", "running", "waiting"];
const ended: readonly TaskState[] = ["succeeded", "failed", "cancelled"];

describe("the transition table", () => {
  it("lets every open state go anywhere, and an ended one nowhere", () => {
    expect(Object.keys(transitionTable).sort()).toEqual([...open, ...ended].sort());
    for (const state of open) expect([...transitionTable[state]].sort()).toEqual([...open, ...ended].sort());
    for (const state of ended) expect(transitionTable[state]).toEqual([]);
  });

  it.each(ended.flatMap((from) => [...open, ...ended].map((status) => [from, status] as const)))(
    "keeps a task that is %s when its execution is seen as %s",
    (from, status) => {
      const before = record({ state: from, endedAt: 1_500, expiresAt: 2_500, slotHeld: true });
      const after = applySnapshot(before, { status, output: { kind: "text", text: "late" } }, 2_000, 3).record;
      expect(after).toMatchObject({ state: from, updatedAt: 1_000, endedAt: 1_500, expiresAt: 2_500 });
      expect(after.output).toBeUndefined();
      expect(after.slotHeld).toBe(!ended.includes(status));
    },
  );
});

describe("applySnapshot", () => {
  it("keeps the output beside the record and counts the retention from the end", () => {
    const { record: after, payloads } = applySnapshot(
      record(),
      { status: "succeeded", output: { kind: "json", value: { a: 1 } } },
      2_000,
      3,
    );
    expect(after).toMatchObject({
      state: "succeeded",
      output: { mediaType: "application/json", bytes: 7 },
      endedAt: 2_000,
      expiresAt: 3_000,
      slotHeld: false,
    });
    expect(payloads.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual([["output", '{"a":1}']]);
  });

  it("fetches an output that is too large before the task ends", () => {
    const { record: after } = applySnapshot(
      record(),
      { status: "succeeded", output: { kind: "stream", mediaType: "text/plain" } },
      2_000,
      3,
    );
    expect(after).toMatchObject({
      state: "running",
      slotHeld: false,
      effects: [{ kind: "capture", mediaType: "text/plain", notBefore: 2_000 }],
    });
    const again = applySnapshot(after, { status: "running" }, 2_100, 3).record;
    expect(again.execution?.status).toBe("succeeded");
  });

  it("takes a stop that nobody here asked for as a failure of the call", () => {
    expect(applySnapshot(record(), { status: "cancelled" }, 2_000, 3).record).toMatchObject({
      state: "failed",
      failure: { kind: "protocol", code: "stopped_outside" },
    });
    const asked = record({ cancel: { requestedAt: 1_500, reason: "by the caller", isFinal: false } });
    expect(applySnapshot(asked, { status: "cancelled" }, 2_000, 3).record).toMatchObject({
      state: "cancelled",
      message: "by the caller",
    });
  });

  it("moves updatedAt only when something visible changed", () => {
    const seen = applySnapshot(record(), { status: "running", progress: { done: 1, total: 2 } }, 2_000, 3).record;
    expect(seen.updatedAt).toBe(2_000);
    expect(applySnapshot(seen, { status: "running", progress: { done: 1, total: 2 } }, 3_000, 3).record).toEqual(seen);
  });

  it("asks a question once, under a key of its own, and goes on waiting while nobody looks at questions", () => {
    const asked = applySnapshot(
      record(),
      { status: "waiting", questions: [{ id: "approve#1", message: "Go?", secret: "s3cret" }] },
      2_000,
      3,
    );
    expect(asked.record).toMatchObject({
      state: "waiting",
      questions: [{ key: "q1", questionId: "approve#1", secretKey: "q1", state: "open" }],
    });
    expect(asked.secrets).toEqual([{ name: "secret:q1", secret: "s3cret" }]);
    expect(JSON.stringify(asked.record)).not.toContain("s3cret");
    expect(applySnapshot(asked.record, { status: "running" }, 3_000, 3).record.state).toBe("waiting");
    const withdrawn = applySnapshot(asked.record, { status: "running", questions: [] }, 3_000, 3, 2_500);
    expect(withdrawn).toMatchObject({
      record: { state: "running", questions: [{ key: "q1", state: "withdrawn", message: "" }] },
      dropPayloads: ["secret:q1"],
    });
    const again = applySnapshot(
      withdrawn.record,
      { status: "waiting", questions: [{ id: "approve#1", message: "Go?" }] },
      4_000,
      3,
    ).record;
    expect(again).toMatchObject({ state: "waiting", questions: [{ key: "q1" }, { key: "q2", state: "open" }] });
  });

  it("asks again what is still asked long after its answer was delivered, and not sooner", () => {
    const questions = [{ id: "approve", message: "Go?" }];
    const asked = applySnapshot(record(), { status: "waiting", questions }, 2_000, 3, 2_000).record;
    const answered = closeQuestions(asked, new Set(["q1"]), "closed", 10_000).record;
    const seen = (at: number, inspectedAt?: number) =>
      applySnapshot(answered, { status: "waiting", questions }, at, 3, inspectedAt).record;
    for (const stale of [seen(69_000, 69_000), seen(90_000)]) expect(openQuestions(stale.questions)).toEqual([]);
    const again = seen(70_000, 70_000);
    expect(again.state).toBe("waiting");
    expect(openQuestions(again.questions)).toMatchObject([{ key: "q2", questionId: "approve", reasks: 1 }]);
  });

  it("lets neither news nor a look that began before a question take it away", () => {
    const asked = applySnapshot(
      record(),
      { status: "waiting", questions: [{ id: "a", message: "Go?" }] },
      2_000,
      3,
    ).record;
    for (const inspectedAt of [undefined, 1_500, 2_000]) {
      const late = applySnapshot(asked, { status: "running", questions: [] }, 3_000, 3, inspectedAt).record;
      expect(late).toMatchObject({ state: "waiting", questions: [{ key: "q1", state: "open", message: "Go?" }] });
    }
  });

  it("keeps a record small whatever a backend says", () => {
    const huge = "x".repeat(100_000);
    const questions = Array.from({ length: 500 }, (_, index) => ({ id: `q${index}`, message: huge.slice(0, 300) }));
    const children = Array.from({ length: 500 }, () => ({ name: huge, status: "running" as const, url: huge }));
    const seen = applySnapshot(
      record(),
      { status: "waiting", progress: { message: huge }, url: huge, children, questions },
      2_000,
      3,
    ).record;
    const failed = applySnapshot(
      seen,
      { status: "failed", failure: { kind: "job", reason: huge, code: huge, detail: huge } },
      3_000,
      3,
    ).record;
    expect(JSON.stringify(seen).length).toBeLessThan(16_384);
    expect(JSON.stringify(failed).length).toBeLessThan(16_384);
  });
});

describe("endTask", () => {
  it("lets the first end win", () => {
    const first = failTask(record(), "max_run", "too long", 2_000, true).record;
    expect(endTask(first, { state: "cancelled", slotHeld: false }, 3_000).record).toBe(first);
  });

  it("keeps in the outbox only what must still stop the execution", () => {
    const busy = withEffect(
      withEffect(record(), { kind: "cancel", reason: "r" }, 1),
      { kind: "answer", answerId: "a1", questionKey: "q", action: "accept" },
      1,
    );
    const after = endTask(busy, { state: "failed", slotHeld: true }, 2_000);
    expect(after.record.effects.map(({ kind }) => kind)).toEqual(["cancel"]);
    expect(after.dropPayloads).toEqual(["answer:a1"]);
  });
});

describe("wakeAtOf", () => {
  it.each([
    ["never, for a running task with nothing due", record(), null],
    ["at the next effect", withEffect(record(), { kind: "cancel", reason: "r" }, 5_000), 5_000],
    [
      "not for an effect that has no execution to address yet",
      withEffect(record({ ref: undefined as never }), { kind: "cancel", reason: "r" }, 5_000),
      null,
    ],
    ["when it has run too long", record({ policy: { ...record().policy, maxRunMs: 700 } }), 1_700],
    ["when it expires", record({ state: "failed", expiresAt: 4_000 }), 4_000],
    ["not for an expiry that has happened", record({ state: "failed", expiresAt: 4_000, expired: true }), null],
  ])("wakes %s", (_when, given, at) => {
    expect(wakeAtOf(given)).toBe(at);
  });
});

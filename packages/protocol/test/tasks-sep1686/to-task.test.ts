import { describe, expect, test } from "@jest/globals";
import type { TaskRecord, TaskView } from "@taskbridge/core";
import { toCallAnswer, toCreatedNotification, toTask, toTaskResult } from "../../src/tasks-sep1686/index.ts";
import { aQuestion, aView, createdAt, succeeded } from "../a-task.ts";

const ended = { endedAt: createdAt + 5_000, expiresAt: createdAt + 65_000 };
const running = { taskId: "t-1", keepAlive: 60_000, pollFrequency: 2_000 };
const over = { taskId: "t-1", keepAlive: 60_000 };
const related = { "modelcontextprotocol.io/related-task": { taskId: "t-1" } };

const jobFailed: Partial<TaskRecord> = { state: "failed", ...ended, failure: { kind: "job", reason: "exit code 2" } };
const callFailed: Partial<TaskRecord> = {
  state: "failed",
  ...ended,
  failure: { kind: "protocol", code: "max_run", reason: "stopped after 60 s" },
};
const cancelled: Partial<TaskRecord> = { state: "cancelled", ...ended };

describe("[M-6] [M-7] a task", () => {
  test.each<[string, TaskView, object]>([
    ["not begun", aView({ state: "queued" }), { ...running, status: "submitted" }],
    ["queued again", aView({ state: "queued", begunAt: createdAt }), { ...running, status: "working" }],
    ["running", aView({ begunAt: createdAt }), { ...running, status: "working" }],
    ["succeeded", succeeded("done"), { ...over, status: "completed" }],
    ["whose job failed", aView(jobFailed), { ...over, status: "completed" }],
    ["that failed and nobody says why", aView({ state: "failed", ...ended }), { ...over, status: "completed" }],
    ["that failed as a call", aView(callFailed), { ...over, status: "failed", error: "stopped after 60 s" }],
    ["cancelled", aView(cancelled), { ...over, status: "cancelled" }],
  ])("%s", (_name, view, task) => {
    expect(toTask(view)).toEqual(task);
  });

  test("shows the time that it is really kept, and whole milliseconds", () => {
    const { policy } = aView().record;
    const view = { ...aView({ policy: { ...policy, retentionMs: 86_399_999.5 } }), pollIntervalMs: 0.2 };
    expect(toTask(view)).toMatchObject({ keepAlive: 86_400_000, pollFrequency: 1 });
  });
});

describe("[M-13] a task that asks", () => {
  const view = aView({ state: "waiting", questions: [aQuestion(), aQuestion({ key: "q2" })] });

  test.each([
    ["anybody", () => true, "input_required", 0],
    ["who can answer one of two", ({ key }: { key: string }) => key === "q2", "input_required", 1],
    ["who can answer none", () => false, "working", 2],
  ])("%s", (_name, canAsk, status, withheld) => {
    const reported = toTask(view, { canAsk });
    expect(reported.status).toBe(status);
    expect(reported.statusMessage?.match(/waits for an answer that this client cannot give: /g) ?? []).toHaveLength(
      withheld,
    );
  });

  test("nothing that is still open", () => {
    const questions = [aQuestion({ state: "answered" })];
    expect(toTask(aView({ state: "waiting", questions })).status).toBe("working");
  });
});

describe("[M-8] the result", () => {
  const resultOf = (view: TaskView) => toTaskResult(view, toTask(view));

  test.each([
    ["that succeeded", succeeded("done", "text/plain"), [{ type: "text", text: "done" }], false],
    ["whose job failed", aView(jobFailed), [{ type: "text", text: "exit code 2" }], true],
  ] as const)("of a task %s is what its call answers", (_name, view, content, isError) => {
    const answer = { result: { content, isError, _meta: related } };
    expect(resultOf(view)).toEqual(answer);
    expect(toCallAnswer(view)).toEqual(answer);
  });

  test("is structured where the tool promises so", () => {
    const view = succeeded('{"n":1}');
    const expectation = { check: () => undefined, structured: true };
    const answer = { result: { structuredContent: { n: 1 }, isError: false, _meta: related } };
    expect(toTaskResult(view, toTask(view), { expectation })).toMatchObject(answer);
    expect(toCallAnswer(view, { expectation })).toMatchObject(answer);
  });

  test.each([
    ["submitted", aView({ state: "queued" })],
    ["working", aView()],
    ["input_required", aView({ state: "waiting", questions: [aQuestion()] })],
    ["failed", aView(callFailed)],
    ["cancelled", aView(cancelled)],
  ])("of a task that is %s is refused", (status, view) => {
    const message = `Cannot retrieve result: Task status is '${status}', not 'completed'`;
    expect(resultOf(view)).toEqual({ error: { code: -32_602, message } });
  });

  test.each([
    ["failed", callFailed, { code: -32_603, message: "stopped after 60 s", data: { reason: "max_run" } }],
    ["was cancelled", cancelled, { code: -32_603, message: "Task was cancelled", data: { reason: "cancelled" } }],
  ])("of a call that %s is an error", (_name, members, error) => {
    expect(toCallAnswer(aView(members))).toEqual({ error });
  });

  test("of a call that still runs does not exist", () => {
    expect(() => toCallAnswer(aView())).toThrow(TypeError);
  });
});

describe("[M-9] [M-10] the notice", () => {
  test("has nothing but the task that it is about", () => {
    expect(toCreatedNotification("t-1")).toEqual({ method: "notifications/tasks/created", params: { _meta: related } });
  });
});

import { describe, expect, test } from "@jest/globals";
import type { TaskRecord } from "@taskbridge/core";
import { toCreateResult } from "../../src/tasks-2026-07-28/to-create-result.ts";
import { toDetailedTask } from "../../src/tasks-2026-07-28/to-detailed-task.ts";
import { aQuestion, aView, createdAt, succeeded } from "../a-task.ts";

const all = { tasks: true, form: true, url: true };
const base = {
  taskId: "t-1",
  createdAt: "2026-07-28T12:00:00.000Z",
  lastUpdatedAt: "2026-07-28T12:00:01.500Z",
  ttlMs: null,
  pollIntervalMs: 2_000,
};
const ended = { endedAt: createdAt + 5_000, expiresAt: createdAt + 65_000 };

describe("[A-5] tasks/get", () => {
  test.each<[string, Partial<TaskRecord>, object]>([
    ["queued", { state: "queued" }, { ...base, status: "working" }],
    [
      "running",
      { state: "running", execution: { status: "running", progress: { done: 3, total: 10 } } },
      { ...base, status: "working", statusMessage: "3 of 10" },
    ],
    [
      "a tool that stops its executions says how long a task can live",
      { policy: { ...aView().record.policy, maxRunMs: 600_000 } },
      { ...base, status: "working", ttlMs: 660_000 },
    ],
    [
      "[A-6] a job that failed is completed with an error result",
      { state: "failed", ...ended, failure: { kind: "job", reason: "exit code 2" } },
      {
        ...base,
        ttlMs: 65_000,
        status: "completed",
        statusMessage: "exit code 2",
        result: { resultType: "complete", content: [{ type: "text", text: "exit code 2" }], isError: true },
      },
    ],
    [
      "[A-6] a call that could not be carried out is failed with a JSON-RPC error",
      { state: "failed", ...ended, failure: { kind: "protocol", code: "max_run", reason: "stopped after 60 s" } },
      {
        ...base,
        ttlMs: 65_000,
        status: "failed",
        statusMessage: "stopped after 60 s",
        error: { code: -32_603, message: "stopped after 60 s", data: { reason: "max_run" } },
      },
    ],
    ["cancelled", { state: "cancelled", ...ended }, { ...base, ttlMs: 65_000, status: "cancelled" }],
  ])("%s", (_name, members, task) => {
    expect(toDetailedTask(aView(members), all)).toEqual(task);
  });

  test("succeeded, with a result that says it is complete and has no related-task mark", () => {
    expect(toDetailedTask(succeeded("done", "text/plain"), all)).toEqual({
      ...base,
      ttlMs: 65_000,
      status: "completed",
      result: { resultType: "complete", content: [{ type: "text", text: "done" }], isError: false },
    });
  });
});

describe("[A-8] questions", () => {
  const approve = aQuestion({ schema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] } });
  const page = aQuestion({ key: "q2", message: "Sign", url: "https://sign.example/1" });
  const secret = aQuestion({
    key: "q3",
    message: "Password?",
    schema: { type: "object", properties: { password: { type: "string", format: "password" } } },
  });
  const answered = aQuestion({ key: "q0", state: "answered" });
  const form = {
    method: "elicitation/create",
    params: {
      mode: "form",
      message: "Delete 14 files?",
      requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
    },
  };
  const visit = {
    method: "elicitation/create",
    params: { mode: "url", message: "Sign", url: "https://sign.example/1" },
  };

  test.each([
    ["all open ones, and no other", [answered, approve, page], all, { q1: form, q2: visit }, undefined],
    [
      "a mode that was not declared is told, not sent",
      [approve, page],
      { ...all, url: false },
      { q1: form },
      "waits for a person at https://sign.example/1: Sign",
    ],
    [
      "a secret is never asked for by a form",
      [approve, secret],
      all,
      { q1: form },
      "waits for a secret, which no form may ask for: Password?",
    ],
  ] as const)("%s", (_name, questions, capabilities, inputRequests, statusMessage) => {
    expect(toDetailedTask(aView({ state: "waiting", questions: [...questions] }), capabilities)).toEqual({
      ...base,
      status: "input_required",
      ...(statusMessage === undefined ? {} : { statusMessage }),
      inputRequests,
    });
  });

  test("with none that can be sent the task is working, and says why", () => {
    const view = aView({ state: "waiting", questions: [approve] });
    expect(toDetailedTask(view, { tasks: true, form: false, url: false })).toEqual({
      ...base,
      status: "working",
      statusMessage: "waits for an answer that this client cannot give: Delete 14 files?",
    });
  });

  test("a page with a schema is a form where forms are declared", () => {
    const both = aView({ state: "waiting", questions: [{ ...page, schema: approve.schema ?? {} }] });
    expect(toDetailedTask(both, all).inputRequests).toMatchObject({ q2: { params: { mode: "form" } } });
    expect(toDetailedTask(both, { ...all, form: false }).inputRequests).toEqual({ q2: visit });
  });
});

describe("[A-3] the create answer", () => {
  test("is flat and nothing but the task", () => {
    expect(toCreateResult(aView())).toEqual({ resultType: "task", status: "working", ...base });
  });

  test.each([
    ["a question", aView({ state: "waiting", questions: [aQuestion()] })],
    ["an end", succeeded("done")],
  ])("is working in spite of %s", (_name, view) => {
    const result = toCreateResult(view);
    expect(result.status).toBe("working");
    expect(Object.keys(result)).not.toEqual(expect.arrayContaining(["result"]));
    expect(Object.keys(result)).not.toEqual(expect.arrayContaining(["inputRequests"]));
  });
});

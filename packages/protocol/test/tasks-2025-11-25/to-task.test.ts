import { describe, expect, test } from "@jest/globals";
import type { TaskRecord, TaskView } from "@taskbridge/core";
import { endedCannotBeCancelled } from "../../src/tasks-2025-11-25/ended-cannot-be-cancelled.ts";
import { toCreateResult } from "../../src/tasks-2025-11-25/to-create-result.ts";
import { toStatusNotification } from "../../src/tasks-2025-11-25/to-status-notification.ts";
import { type TaskOptions, toTask } from "../../src/tasks-2025-11-25/to-task.ts";
import { toTaskResult } from "../../src/tasks-2025-11-25/to-task-result.ts";
import { aQuestion, aView, createdAt, succeeded } from "../a-task.ts";

const base = {
  taskId: "t-1",
  createdAt: "2026-07-28T12:00:00.000Z",
  lastUpdatedAt: "2026-07-28T12:00:01.500Z",
  ttl: null,
  pollInterval: 2_000,
};
const ended = { endedAt: createdAt + 5_000, expiresAt: createdAt + 65_000 };
const kept = { ...base, ttl: 65_000 };
const strict: TaskOptions = { errorStatus: "failed" };
const lenient: TaskOptions = { errorStatus: "completed" };
const related = { "io.modelcontextprotocol/related-task": { taskId: "t-1" } };

const jobFailed: Partial<TaskRecord> = {
  state: "failed",
  ...ended,
  failure: { kind: "job", code: "Exit2", reason: "exit code 2", detail: "line 1\nline 2" },
};
const callFailed: Partial<TaskRecord> = {
  state: "failed",
  ...ended,
  failure: { kind: "protocol", code: "max_run", reason: "stopped after 60 s" },
};

describe("[B-5] a task", () => {
  test.each<[string, Partial<TaskRecord>, object]>([
    ["queued", { state: "queued" }, { ...base, status: "working" }],
    [
      "running",
      { state: "running", execution: { status: "running", progress: { done: 3, total: 10 } } },
      { ...base, status: "working", statusMessage: "3 of 10" },
    ],
    [
      "of a tool that stops its executions",
      { policy: { ...aView().record.policy, maxRunMs: 600_000 } },
      { ...base, status: "working", ttl: 660_000 },
    ],
    ["[B-7] failed as a call", callFailed, { ...kept, status: "failed", statusMessage: "stopped after 60 s" }],
    ["cancelled", { state: "cancelled", ...ended }, { ...kept, status: "cancelled" }],
    [
      "cancelled, with a reason",
      { state: "cancelled", ...ended, message: "cancelled by its caller" },
      { ...kept, status: "cancelled", statusMessage: "cancelled by its caller" },
    ],
  ])("%s", (_name, members, task) => {
    expect(toTask(aView(members), strict)).toEqual(task);
    expect(toTask(aView(members), lenient)).toEqual(task);
  });

  test("durations are whole milliseconds", () => {
    const view: TaskView = { ...aView({ ...ended, expiresAt: createdAt + 0.5 }), pollIntervalMs: 0.2 };
    expect(toTask(view, strict)).toMatchObject({ ttl: 1, pollInterval: 1 });
  });

  test("succeeded", () => {
    expect(toTask(succeeded("done", "text/plain"), strict)).toEqual({ ...kept, status: "completed" });
  });
});

describe("[B-7] errors of the job", () => {
  const misfit: TaskOptions["expectation"] = { check: () => "n: must be a number", structured: true };
  const reported = "The job has succeeded, but its output does not fit the tool's output schema: n: must be a number";

  test.each([
    ["a job that failed", aView(jobFailed), {}, "exit code 2 (Exit2)"],
    ["an output that does not fit", succeeded('{"n":"x"}'), { expectation: misfit }, reported],
  ] as const)("%s is what the setting says, with its cause in the message", (_name, view, options, cause) => {
    const fields = { ...kept, statusMessage: cause };
    expect(toTask(view, { ...strict, ...options })).toEqual({ ...fields, status: "failed" });
    expect(toTask(view, { ...lenient, ...options })).toEqual({ ...fields, status: "completed" });
    expect(toTaskResult(view, options)).toMatchObject({ result: { isError: true } });
  });

  test("a failure that tells nothing still has a message", () => {
    const { failure: _, ...members } = jobFailed;
    expect(toTask(aView(members), strict)).toMatchObject({ status: "failed", statusMessage: "The job has failed." });
  });

  test("an output that fits is completed", () => {
    const expectation = { check: () => undefined, structured: true };
    expect(toTask(succeeded('{"n":1}'), { ...strict, expectation })).toEqual({ ...kept, status: "completed" });
  });

  test("an output is not read where nothing is expected of it", () => {
    const { output: _, ...view } = succeeded("{}");
    const guarded = Object.defineProperty({ ...view }, "output", {
      get: () => {
        throw new Error("read");
      },
    }) as TaskView;
    expect(toTask(guarded, strict).status).toBe("completed");
  });

  test("a view without its output, as lists have, is taken to fit", () => {
    const { output: _, ...view } = succeeded('{"n":"x"}');
    expect(toTask(view, { ...strict, expectation: misfit })).toEqual({ ...kept, status: "completed" });
  });
});

describe("[B-6] questions", () => {
  const schema = { type: "object", properties: { ok: { type: "boolean" } } };
  const approve = aQuestion({ schema });
  const page = aQuestion({ key: "q2", message: "Sign", url: "https://sign.example/1" });
  const password = aQuestion({
    key: "q3",
    message: "Password?",
    schema: { type: "object", properties: { password: { type: "string", format: "password" } } },
  });
  const none = {
    form: false,
    url: false,
    sampling: false,
    taskElicitation: false,
    taskSampling: false,
    taskCancel: false,
  };
  const noForm = "waits for an answer that this client cannot give: Delete 14 files?";
  const noAnswer = "waits for an answer that this client did not give: Delete 14 files?";
  const noPage = "waits for a person at https://sign.example/1: Sign";
  const noSecret = "waits for a secret, which no form may ask for: Password?";

  test.each([
    ["one that can be put", [approve], { ...none, form: true }, "input_required", undefined],
    ["one whose session is not known", [approve], undefined, "input_required", undefined],
    ["one that cannot be put", [approve], none, "working", noForm],
    ["a page, to a client without pages", [page], { ...none, form: true }, "working", noPage],
    ["one of two", [approve, page], { ...none, form: true }, "input_required", noPage],
    ["neither of two", [approve, page], none, "working", `${noForm}; ${noPage}`],
    ["a secret, to anybody", [password], undefined, "working", noSecret],
    ["a secret, to a model", [password], { ...none, sampling: true }, "working", noSecret],
    ["none that is still open", [aQuestion({ state: "answered" })], { ...none, form: true }, "working", undefined],
    ["a model that must not answer", [approve], { ...none, sampling: true }, "working", noForm],
  ] as const)("%s", (_name, questions, capabilities, status, statusMessage) => {
    expect(toTask(aView({ state: "waiting", questions: [...questions] }), { ...strict, capabilities })).toEqual({
      ...base,
      status,
      ...(statusMessage === undefined ? {} : { statusMessage }),
    });
  });

  test.each([
    [[approve], "input_required"],
    [[page], "working"],
    [[password], "working"],
  ])("a model may answer %j: %s", (questions, status) => {
    const capabilities = { ...none, sampling: true };
    const view = aView({ state: "waiting", questions });
    expect(toTask(view, { ...strict, capabilities, modelAnswers: true }).status).toBe(status);
    expect(toTask(view, { ...strict, capabilities: none, modelAnswers: true }).status).toBe("working");
  });

  test.each([
    ["one", [approve], "working", noAnswer],
    ["one of two", [approve, { ...approve, key: "q2" }], "input_required", noAnswer],
    ["one that could not be put anyway", [page], "working", noPage],
  ] as const)("that the client was asked in vain: %s", (_name, questions, status, statusMessage) => {
    const view = aView({ state: "waiting", questions: [...questions] });
    const unanswered = (key: string): boolean => key === approve.key;
    const reported = toTask(view, { ...strict, capabilities: { ...none, form: true }, unanswered });
    expect(reported).toEqual({ ...base, status, statusMessage });
  });

  test("the message of the task comes first", () => {
    const view = aView({ state: "waiting", message: "before the release", questions: [approve] });
    expect(toTask(view, { ...strict, capabilities: none }).statusMessage).toBe(`before the release; ${noForm}`);
  });
});

describe("[B-4] the create answer", () => {
  test("holds the task, and nothing else", () => {
    expect(toCreateResult(aView())).toEqual({ task: { ...base, status: "working" } });
  });

  test("has what the model is told at once", () => {
    expect(toCreateResult(aView(), "Transcoding started.")).toEqual({
      task: { ...base, status: "working" },
      _meta: { "io.modelcontextprotocol/model-immediate-response": "Transcoding started." },
    });
  });

  test.each([
    ["a question", aView({ state: "waiting", questions: [aQuestion()] }), base],
    ["an end", succeeded("done"), kept],
    ["a failure", aView(jobFailed), kept],
  ])("begins as working in spite of %s", (_name, view, fields) => {
    expect(toCreateResult(view)).toEqual({ task: { ...fields, status: "working" } });
  });
});

describe("[B-8] tasks/result", () => {
  test.each([
    ["a success", succeeded("done", "text/plain"), [{ type: "text", text: "done" }], false],
    [
      "a job that failed",
      aView(jobFailed),
      [
        { type: "text", text: "exit code 2 (Exit2)" },
        { type: "text", text: "line 1\nline 2" },
      ],
      true,
    ],
  ] as const)("of %s is the tool result, tied to its task", (_name, view, content, isError) => {
    expect(toTaskResult(view)).toEqual({ result: { content, isError, _meta: related } });
  });

  test("is structured where the tool promises so", () => {
    const expectation = { check: () => undefined, structured: true };
    expect(toTaskResult(succeeded('{"n":1}'), { expectation })).toMatchObject({
      result: { structuredContent: { n: 1 }, isError: false, _meta: related },
    });
  });

  test.each([
    ["a failed call", callFailed, { code: -32_603, message: "stopped after 60 s", data: { reason: "max_run" } }],
    [
      "a failed call without a code",
      { ...callFailed, failure: { kind: "protocol", reason: "gone" } },
      { code: -32_603, message: "gone", data: { reason: "failed" } },
    ],
    [
      "a cancelled task",
      { state: "cancelled", ...ended },
      { code: -32_603, message: "Task was cancelled", data: { reason: "cancelled" } },
    ],
  ] as const)("of %s is a JSON-RPC error", (_name, members, error) => {
    expect(toTaskResult(aView(members))).toEqual({ error });
  });

  test.each(["queued", "running", "waiting"] as const)("of a %s task does not exist", (state) => {
    expect(() => toTaskResult(aView({ state }))).toThrow(TypeError);
  });
});

describe("[B-9] messages that name their task themselves", () => {
  test("carry no related-task mark", () => {
    const task = toTask(succeeded("done"), strict);
    expect(toStatusNotification(task)).toEqual({ method: "notifications/tasks/status", params: task });
    expect(task).not.toHaveProperty("_meta");
    expect(toCreateResult(succeeded("done"))).not.toHaveProperty("_meta");
  });
});

describe("[B-11] the cancel of an ended task", () => {
  test.each([
    [succeeded("done"), strict, "completed"],
    [aView(jobFailed), strict, "failed"],
    [aView(jobFailed), lenient, "completed"],
    [aView({ state: "cancelled", ...ended }), strict, "cancelled"],
  ])("is refused, with the status that tasks/get shows (%#)", (view, options, status) => {
    expect(endedCannotBeCancelled(toTask(view, options))).toEqual({
      code: -32_602,
      message: `Cannot cancel task: already in terminal status '${status}'`,
    });
    expect(toTask(view, options).status).toBe(status);
  });
});

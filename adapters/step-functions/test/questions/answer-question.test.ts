import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { AnswerRequest, ExecutionQuestion, ExecutionRef, ExecutionSnapshot } from "@taskbridge/core/adapter";
import { callContext, newKey } from "../call-context.ts";
import type { Faults } from "../facade/faults.ts";
import { ask, map, mapRun, parallel, type Script, state } from "../facade/script.ts";
import { type FacadeBench, facadeBench } from "../facade-bench.ts";

let bench: FacadeBench;
beforeEach(async () => {
  bench = await facadeBench();
});
afterEach(async () => {
  await bench.adapter.close?.();
  await bench.facade.close();
});

const start = async (script: Script): Promise<ExecutionRef> => {
  const target = { stateMachine: bench.facade.machine("asking", script) };
  return (await bench.adapter.start({ key: newKey(), target, input: "{}", attempt: 1 }, callContext())).ref;
};

const inspection = async (ref: ExecutionRef): Promise<ExecutionSnapshot> => {
  const [outcome] = (await bench.adapter.inspect?.([{ ref, want: "detail" }], callContext())) ?? [];
  if (outcome === undefined || !("snapshot" in outcome)) throw new Error(JSON.stringify(outcome));
  return outcome.snapshot;
};

const questionsOf = async (ref: ExecutionRef): Promise<readonly ExecutionQuestion[]> =>
  (await inspection(ref)).questions ?? [];

const answer = (ref: ExecutionRef, question: ExecutionQuestion | undefined, more: Partial<AnswerRequest> = {}) => {
  if (question === undefined || bench.adapter.answer === undefined) throw new Error("no question");
  const request: AnswerRequest = {
    answerId: "a-1",
    attempt: 1,
    question,
    action: "accept",
    content: { ok: true },
    ...more,
  };
  return bench.adapter.answer(ref, request, callContext());
};

const schema = { type: "object", properties: { ok: { type: "boolean" } } };
const approval = ask("Approve", { mcp: { message: "Delete 14 files?", requestedSchema: schema } });

describe("questions", () => {
  it("are asked in the author's words, and the answer is the task's output", async () => {
    const ref = await start({ steps: [approval], end: { succeed: (outputs) => outputs.Approve ?? null } });
    const [question] = await questionsOf(ref);
    expect(question).toMatchObject({ message: "Delete 14 files?", schema });
    await answer(ref, question);
    expect(await inspection(ref)).toMatchObject({ status: "succeeded", output: { value: { ok: true } } });
  });

  it("are open side by side in branches and items, each with a token of its own", async () => {
    const ref = await start({
      steps: [parallel("Both", [ask("Law")], [ask("Money")]), map("Orders", 3, () => [ask("Pack")])],
    });
    const both = await questionsOf(ref);
    expect(both.map(({ message }) => message).sort()).toEqual(["Law waits for an answer", "Money waits for an answer"]);
    expect(new Set(both.map(({ secret }) => secret)).size).toBe(2);
    await answer(ref, both[1]);
    expect((await questionsOf(ref)).map(({ id }) => id)).toEqual([both[0]?.id]);
    await answer(ref, both[0]);
    expect(await inspection(ref)).toMatchObject({ status: "waiting", progress: { done: 0, total: 3 } });
    for (const question of await questionsOf(ref)) await answer(ref, question);
    expect((await inspection(ref)).status).toBe("succeeded");
  });

  it("are none where the author left the token out", async () => {
    const ref = await start({ steps: [ask("Approve", {}, { parameters: () => ({ MessageBody: "Sure?" }) })] });
    expect(await inspection(ref)).toMatchObject({ status: "running", questions: [], progress: { message: "Approve" } });
  });

  it.each<[string, Faults]>([
    ["denied", { denies: ["DescribeMapRun"] }],
    ["throttled", { throttles: (name) => name === "DescribeMapRun" }],
  ])("are told beside a Map whose counts are %s", async (_name, faults) => {
    const ref = await start({ steps: [parallel("Both", [mapRun("Files", 4, 60_000)], [ask("Approve")])] });
    bench.facade.setFaults(faults);
    const { status, questions, progress } = await inspection(ref);
    expect([status, questions?.length, progress]).toEqual(["waiting", 1, { message: "Approve" }]);
  });

  it("refused are failures of the task, which its machine may catch", async () => {
    const script: Script = {
      steps: [{ ...approval, isCaught: true }],
      end: { succeed: (outputs) => outputs.Approve ?? null },
    };
    const ref = await start(script);
    await answer(ref, (await questionsOf(ref))[0], { action: "decline" });
    const value = { Error: "Taskbridge.Declined", Cause: "the person declined (a-1)" };
    expect(await inspection(ref)).toMatchObject({ status: "succeeded", output: { value } });
  });

  it("that time out are withdrawn", async () => {
    const ref = await start({ steps: [ask("Approve", {}, { timeoutMs: 300, isCaught: true }), state("Work", 60_000)] });
    const [question] = await questionsOf(ref);
    expect(question?.expiresAt).toBeGreaterThan(Date.now() - 5_000);
    await bench.facade.clock.until(Date.now() + 350, new AbortController().signal);
    expect(await inspection(ref)).toMatchObject({ status: "running", questions: [] });
    await expect(answer(ref, question)).rejects.toMatchObject({ code: "conflict" });
  });
});

describe("an answer whose own answer is lost", () => {
  const lose = async (ref: ExecutionRef, action: AnswerRequest["action"]): Promise<ExecutionQuestion | undefined> => {
    const [question] = await questionsOf(ref);
    bench.facade.setFaults({ losesAnswer: (name) => name.startsWith("SendTask") });
    await expect(answer(ref, question, { action })).rejects.toMatchObject({ code: "outcome_unknown" });
    bench.facade.setFaults({});
    return question;
  };

  it.each(["accept", "decline", "cancel"] as const)(
    "is known by the history when it is sent again: %s",
    async (action) => {
      const ref = await start({ steps: [{ ...approval, isCaught: true }, state("Work", 60_000)] });
      const question = await lose(ref, action);
      await answer(ref, question, { action, attempt: 2 });
      const other = { action, attempt: 2, answerId: "a-2", content: { ok: false } };
      await expect(answer(ref, question, other)).rejects.toMatchObject({ code: "conflict" });
    },
  );

  it("is put off while the history does not tell how the task was closed", async () => {
    const ref = await start({ steps: [approval, state("Work", 60_000)] });
    const question = await lose(ref, "accept");
    bench.facade.setLag({ historyMs: 60_000 });
    await expect(answer(ref, question, { attempt: 2 })).rejects.toMatchObject({ code: "unavailable" });
    bench.facade.setLag({});
    await answer(ref, question, { attempt: 3 });
  });
});

it("refuses an answer too large for AWS before it is sent", async () => {
  const ref = await start({ steps: [approval] });
  const content = "x".repeat(262_144);
  await expect(answer(ref, (await questionsOf(ref))[0], { content })).rejects.toMatchObject({ code: "invalid_input" });
  expect(bench.facade.counts.SendTaskSuccess).toBeUndefined();
});

describe("progress", () => {
  it("is the state and how many are done", async () => {
    const ref = await start({ steps: [state("One", 0), state("Two", 0, { type: "Choice" }), state("Three", 60_000)] });
    expect((await inspection(ref)).progress).toEqual({ done: 2, message: "Three" });
  });

  it("is the items of a distributed Map", async () => {
    const ref = await start({ steps: [mapRun("Files", 4, 60_000)] });
    expect((await inspection(ref)).progress).toEqual({ done: 0, total: 4, message: "Files" });
  });

  it("goes on over pages: of a long history only what is new is read again", async () => {
    const steps = Array.from({ length: 600 }, (_, index) => state(`S${index}`, 0));
    const ref = await start({ steps: [...steps, approval, state("Work", 60_000)] });
    const first = await inspection(ref);
    expect(first).toMatchObject({ status: "waiting", progress: { done: 600 } });
    const before = bench.facade.counts.GetExecutionHistory?.asked ?? 0;
    expect(before).toBeGreaterThan(1);
    expect(await inspection(ref)).toEqual(first);
    expect(bench.facade.counts.GetExecutionHistory?.asked).toBe(before + 1);
    await answer(ref, first.questions?.[0]);
    expect(await inspection(ref)).toMatchObject({
      status: "running",
      questions: [],
      progress: { done: 601, message: "Work" },
    });
  });
});

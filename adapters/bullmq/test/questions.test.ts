import { afterAll, afterEach, beforeEach, expect, it } from "@jest/globals";
import type { AnswerRequest, ExecutionQuestion, ExecutionRef } from "@taskbridge/core/adapter";
import { ask } from "../src/worker.ts";
import { closeShared, describeRedis, type RedisBench, redisBench, until } from "./redis-bench.ts";

afterAll(closeShared);

it("asks only within a bridged processor", async () => {
  const job = { id: "1", progress: 0, updateProgress: async () => {}, moveToDelayed: async () => {} };
  await expect(ask(job, { key: "approve", message: "?" })).rejects.toThrow("bridgeProcessor");
});

describeRedis("a question", () => {
  let bench: RedisBench;
  beforeEach(async () => {
    bench = await redisBench();
  });
  afterEach(() => bench.close());

  const asked = async (ref: ExecutionRef, id: string): Promise<ExecutionQuestion> => {
    const { questions = [] } = await bench.seen(ref, `${id} is asked`, ({ questions: open }) => open?.[0]?.id === id);
    return questions[0] as ExecutionQuestion;
  };
  const answer = (ref: ExecutionRef, question: ExecutionQuestion, change: Partial<AnswerRequest> = {}) =>
    bench.adapter.answer(
      ref,
      { answerId: "a-1", attempt: 1, question, action: "accept", content: { ok: true }, ...change } as AnswerRequest,
      bench.context(),
    );

  it("shows message, schema and deadline, and hands over what was answered", async () => {
    await bench.work("helper");
    const schema = { type: "object", properties: { ok: { type: "boolean" } } };
    const { ref, id } = await bench.start("asks", { question: { schema, timeoutMs: 60_000 } });
    const question = await asked(ref, "approve#1");
    expect(question).toMatchObject({ message: "Delete 14 files?", schema });
    expect(question.expiresAt).toBeGreaterThan(Date.now() + 50_000);
    expect(await bench.look(ref)).toMatchObject({ snapshot: { status: "waiting", questions: [question] } });
    await answer(ref, question);
    expect((await bench.ended(ref)).output).toEqual({
      kind: "json",
      value: { answer: { action: "accept", content: { ok: true } } },
    });
    expect(await bench.journal()).toEqual([`${id} 1`, `${id} 1`]);
  });

  it("outlives the worker that asked it, and so does its answer", async () => {
    const first = await bench.workAlone("helper");
    const { ref } = await bench.start("asks");
    const question = await asked(ref, "approve#1");
    await first.kill();
    await answer(ref, question);
    expect(await bench.look(ref)).toMatchObject({ snapshot: { status: "queued", questions: [] } });
    await answer(ref, question, { attempt: 2 });
    await bench.work("helper");
    expect((await bench.ended(ref)).output).toMatchObject({ value: { answer: { action: "accept" } } });
  });

  it("is asked again under another ID, with earlier answers kept though the job's data are replaced", async () => {
    await bench.work("helper");
    const { ref } = await bench.start("asks-twice");
    const first = await asked(ref, "step#1");
    expect(await bench.look(ref)).toMatchObject({ snapshot: { progress: { done: 1, total: 3, message: "first" } } });
    await answer(ref, first, { answerId: "a-1", content: 1 });
    const second = await asked(ref, "step#2");
    // Word of the first, repeated, does not disturb the second.
    await answer(ref, first, { answerId: "a-1", attempt: 2, content: 1 });
    await expect(answer(ref, first, { answerId: "a-9" })).rejects.toMatchObject({ code: "conflict" });
    expect((await asked(ref, "step#2")).expiresAt).toBe(second.expiresAt);
    await answer(ref, second, { answerId: "a-2", content: 2 });
    expect((await bench.ended(ref)).output).toEqual({
      kind: "json",
      value: { first: { action: "accept", content: 1 }, second: { action: "accept", content: 2 } },
    });
  });

  it("can be declined", async () => {
    await bench.work("helper");
    const { ref } = await bench.start("asks");
    await bench.adapter.answer(
      ref,
      { answerId: "a-1", attempt: 1, question: await asked(ref, "approve#1"), action: "decline" },
      bench.context(),
    );
    expect((await bench.ended(ref)).output).toEqual({ kind: "json", value: { answer: { action: "decline" } } });
  });

  it("ends at its deadline, after which no answer is taken", async () => {
    await bench.work("helper");
    const { ref } = await bench.start("asks", { question: { timeoutMs: 400 } });
    const question = await asked(ref, "approve#1");
    expect((await bench.ended(ref)).output).toEqual({ kind: "json", value: { answer: { action: "cancel" } } });
    await expect(answer(ref, question)).rejects.toMatchObject({ code: "conflict" });
  });

  it("waits on when its job is promoted by hand", async () => {
    await bench.work("helper");
    const { ref, id } = await bench.start("asks");
    const question = await asked(ref, "approve#1");
    await (await bench.queue.getJob(id))?.promote();
    await until("the job ran once more", async () => ((await bench.journal()).length === 2 ? true : undefined));
    expect(await asked(ref, "approve#1")).toEqual(question);
  });
});

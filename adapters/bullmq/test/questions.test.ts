import { afterAll, afterEach, beforeEach, expect, it } from "@jest/globals";
import type { AnswerRequest, ExecutionQuestion, ExecutionRef } from "@taskbridge/core/adapter";
import { type Job, Worker } from "bullmq";
import { ask, bridgeProcessor, type JobQuestion } from "../src/worker.ts";
import { closeShared, describeRedis, type RedisBench, redisBench, until } from "./redis-bench.ts";

afterAll(closeShared);

it("asks only within a bridged processor", async () => {
  const job = { id: "1", progress: 0, updateProgress: async () => {} };
  await expect(ask(job, { key: "approve", message: "?" })).rejects.toThrow("bridgeProcessor");
});

it.each([
  [{ timeoutMs: Number.NaN }, "timeoutMs must be a number of milliseconds from 0 to 315360000000, got NaN"],
  [{ timeoutMs: Number.POSITIVE_INFINITY }, "timeoutMs"],
  [{ timeoutMs: -1 }, "timeoutMs"],
  [{ timeoutMs: "60000" }, 'timeoutMs must be a number of milliseconds from 0 to 315360000000, got "60000"'],
  [{ key: "" }, 'key must be a text that is not empty, got ""'],
  [{ key: undefined }, "key"],
  [{ message: 7 }, "message must be a text to be read, got 7"],
  [{ message: " \n" }, "message"],
  [{ schema: [] }, "schema must be a JSON Schema, got []"],
])("refuses to ask with %j", async (wrong, text) => {
  const job = { id: "1", progress: 0, updateProgress: async () => {} };
  const asking = ask(job, { key: "approve", message: "?", ...wrong } as JobQuestion);
  await expect(asking).rejects.toThrow(TypeError);
  await expect(asking).rejects.toThrow(text);
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
    expect(await bench.inspect(ref)).toMatchObject({ snapshot: { status: "waiting", questions: [question] } });
    await answer(ref, question);
    expect((await bench.ended(ref)).output).toEqual({
      kind: "json",
      value: { answer: { action: "accept", content: { ok: true } } },
    });
    expect(await bench.journal()).toEqual([`${id} 1`, `${id} 1`]);
  });

  it.each([
    ["of the customer's own shape", { step: 3, rows: 100 }, { message: '{"step":3,"rows":100}' }],
    [
      "larger than is shown",
      { message: "x", rows: "y".repeat(70_000) },
      { message: "progress of 70025 bytes, too large to be shown" },
    ],
    ["a text", "half way", { message: "half way" }],
  ])("is shown beside progress that is %s, and leaves it as it is", async (_name, progress, reported) => {
    await bench.work("helper");
    const { ref, id } = await bench.start("asks", { progress });
    const question = await asked(ref, "approve#1");
    expect(await bench.inspect(ref)).toMatchObject({ snapshot: { status: "waiting", questions: [question] } });
    expect(await bench.inspect(ref, "detail")).toMatchObject({ snapshot: { progress: reported } });
    expect((await bench.queue.getJob(id))?.progress).toEqual(progress);
    await answer(ref, question);
    expect((await bench.ended(ref)).output).toMatchObject({ value: { answer: { action: "accept" } } });
    expect((await bench.queue.getJob(id))?.progress).toEqual(progress);
  });

  it("that is too large to be shown is refused in its worker, with the limit", async () => {
    await bench.work("helper");
    const schema = { type: "string", enum: Array.from({ length: 9_000 }, (_, index) => `option-${index}`) };
    const { ref } = await bench.start("asks", { question: { schema } });
    expect((await bench.ended(ref)).failure?.reason).toMatch(/^the question approve#1 has \d+ bytes .* at most 65536/);
  });

  it("without a usable deadline fails its job, and nothing of it is written", async () => {
    await bench.work("helper");
    // As it is after JSON.
    const { ref, id } = await bench.start("asks", { question: { timeoutMs: null } });
    expect((await bench.ended(ref)).failure).toMatchObject({
      code: "TypeError",
      reason: expect.stringContaining("timeoutMs must be"),
    });
    const fields = await bench.redis.hkeys(bench.queue.toKey(id));
    expect(fields.filter((field) => field.startsWith("tb:"))).toEqual([]);
  });

  it("that an earlier version of the helper has asked, in the job's progress, is shown and answered", async () => {
    const worker = await bench.workAlone("helper");
    const { ref, id } = await bench.start("asks");
    const { message, expiresAt } = await asked(ref, "approve#1");
    await worker.kill();
    const key = bench.queue.toKey(id);
    await bench.redis.hdel(key, "tb:asking", "tb:question");
    const progress = { step: 3, question: { id: "approve#1", message, expiresAt } };
    await bench.redis.hset(key, "progress", JSON.stringify(progress));
    await answer(ref, await asked(ref, "approve#1"));
    await bench.work("helper");
    expect((await bench.ended(ref)).output).toMatchObject({ value: { answer: { action: "accept" } } });
    expect((await bench.queue.getJob(id))?.progress).toEqual({ step: 3 });
  });

  it("outlives the worker that asked it, and so does its answer", async () => {
    const first = await bench.workAlone("helper");
    const { ref } = await bench.start("asks");
    const question = await asked(ref, "approve#1");
    await first.kill();
    await answer(ref, question);
    expect(await bench.inspect(ref)).toMatchObject({ snapshot: { status: "queued", questions: [] } });
    await answer(ref, question, { attempt: 2 });
    await bench.work("helper");
    expect((await bench.ended(ref)).output).toMatchObject({ value: { answer: { action: "accept" } } });
  });

  it("is asked again under another ID, with earlier answers kept though the job's data are replaced", async () => {
    await bench.work("helper");
    const { ref } = await bench.start("asks-twice");
    const first = await asked(ref, "step#1");
    expect(await bench.inspect(ref)).toMatchObject({ snapshot: { progress: { done: 1, total: 3, message: "first" } } });
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
    expect((await bench.ended(ref)).output).toEqual({
      kind: "json",
      value: { answer: { action: "cancel", reason: "timeout" } },
    });
    await expect(answer(ref, question)).rejects.toMatchObject({ code: "conflict" });
  });

  it("is left alone by an earlier run of its job that has lost the lock", async () => {
    const worker = new Worker(bench.queueName, undefined, { connection: bench.redis, prefix: bench.prefix });
    const outcomes: unknown[] = [];
    const take = async (token: string): Promise<Job> => {
      const job = await worker.getNextJob(token);
      if (job === undefined) throw new Error("no job");
      return job;
    };
    const answers = async (job: Job, token: string) => {
      const run = bridgeProcessor(async () => {
        const one = await ask(job, { key: "one", message: "One?" });
        return [one, await ask(job, { key: "two", message: "Two?" })];
      });
      return run(job, token).catch((error: Error) => error.message);
    };
    try {
      const { ref, id } = await bench.start("asks");
      outcomes.push(await answers(await take("first"), "first"));
      await answer(ref, await asked(ref, "one#1"), { answerId: "a-1" });
      const stalled = await take("stalled");
      // Its lock runs out, and another worker is given the job.
      await bench.redis.del(`${bench.queue.toKey(id)}:lock`);
      await bench.redis.lrem(bench.queue.toKey("active"), 1, id);
      await bench.redis.rpush(bench.queue.toKey("wait"), id);
      outcomes.push(await answers(await take("second"), "second"));
      const question = await asked(ref, "two#1");
      outcomes.push(await answers(stalled, "stalled"));
      expect(outcomes).toEqual([
        "waits for an answer to one#1",
        "waits for an answer to two#1",
        expect.stringContaining("the lock of job"),
      ]);
      expect(await asked(ref, "two#1")).toEqual(question);
    } finally {
      await worker.close(true);
    }
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

import { describe, expect, it } from "@jest/globals";
import { BridgeError } from "../../../src/adapter.ts";
import type { TaskId } from "../../../src/store.ts";
import { createWorld, finalStop, mine, startTask, stop, type WorldOptions } from "../harness.ts";

const open = async (options: WorldOptions = {}) => {
  const world = createWorld(options);
  const process = await world.boot();
  const { record } = await startTask(process);
  const { taskId } = record;
  const saved = async () => {
    await world.clock.settle();
    const found = await world.record(taskId);
    if (found === undefined) throw new Error("no record");
    return found;
  };
  const keys = async (): Promise<readonly string[]> =>
    (await saved()).questions.filter(({ state }) => state === "open").map(({ key }) => key);
  const answer = (answers: Parameters<typeof process.engine.answerTask>[2]) =>
    process.engine.answerTask(taskId, mine, answers);
  return { ...world, ...process, taskId, saved, keys, answer };
};

const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const yes = { action: "accept", content: { ok: true } } as const;

describe("a question of an execution", () => {
  it("makes the task wait, wakes who waits for attention, and goes on once answered", async () => {
    const world = await open();
    const wait = world.engine.waitForTask(world.taskId, mine, { until: "attention", timeoutMs: 60_000 });
    await world.clock.settle();
    world.backend.of().ask({ message: "Deploy?", schema });
    const { record } = await wait;
    expect(record).toMatchObject({ state: "waiting", questions: [{ message: "Deploy?", schema, state: "open" }] });
    const [key] = await world.keys();
    expect(await world.answer({ [key as string]: yes })).toEqual({ accepted: [key], askedAgain: [], ignored: [] });
    expect((await world.saved()).state).toBe("running");
    expect(world.backend.of().answers).toMatchObject([
      { questionId: "question#1", action: "accept", content: { ok: true } },
    ]);
  });

  it("gets a key that this task never uses again", async () => {
    const world = await open();
    const seen: string[] = [];
    for (let round = 0; round < 60; round++) {
      world.backend.of().ask({ name: "approve" });
      const [key] = await world.keys();
      seen.push(key as string);
      await world.answer({ [key as string]: { action: "accept" } });
    }
    await world.clock.settle();
    expect(new Set(seen).size).toBe(60);
    expect(world.backend.of().answers).toHaveLength(60);
    expect((await world.answer({ [seen[0] as string]: { action: "decline" } })).ignored).toEqual([seen[0]]);
  });

  it("is not asked anew by a stale look, nor by an adapter that uses its ID again", async () => {
    const world = await open();
    const question = world.backend.of().ask();
    const [key] = await world.keys();
    await world.answer({ [key as string]: { action: "accept" } });
    await world.saved();
    const { ref } = world.backend.of();
    world.backend.events.send({ ref, snapshot: { status: "waiting", questions: [question] } });
    expect(await world.keys()).toEqual([]);
    expect((await world.saved()).state).toBe("running");
  });

  it("stays open while another of the same task is answered", async () => {
    const world = await open();
    world.backend.of().ask({ name: "first" });
    world.backend.of().ask({ name: "second" });
    const [first, second] = await world.keys();
    const report = await world.answer({ [first as string]: { action: "accept" }, unknown: { action: "accept" } });
    expect(report).toEqual({ accepted: [first], askedAgain: [], ignored: ["unknown"] });
    expect(await world.keys()).toEqual([second]);
    expect((await world.saved()).state).toBe("waiting");
  });

  it("that is declined is declined at the backend", async () => {
    const world = await open();
    world.backend.of().ask({ schema });
    const [key] = await world.keys();
    await world.answer({ [key as string]: { action: "decline" } });
    await world.saved();
    expect(world.backend.of().answers).toMatchObject([{ action: "decline", content: undefined }]);
  });

  it("that is dismissed is asked again under a new key, at most maxReasks times, and then cancelled at the backend", async () => {
    const world = await open({ limits: { maxReasks: 2 } });
    world.backend.of().ask({ message: "Sure?" });
    const seen: string[] = [];
    for (let round = 0; round < 3; round++) {
      const [key] = await world.keys();
      seen.push(key as string);
      const report = await world.answer({ [key as string]: { action: "cancel" } });
      expect(report).toMatchObject(round < 2 ? { askedAgain: [key] } : { accepted: [key] });
      expect(world.backend.of().answers).toHaveLength(0);
      await world.saved();
    }
    expect(new Set(seen).size).toBe(3);
    expect(world.backend.of().answers).toMatchObject([{ action: "cancel" }]);
  });

  it("that was dismissed once can still be answered, with its secret", async () => {
    const world = await open();
    world.backend.of().ask();
    const [first] = await world.keys();
    await world.answer({ [first as string]: { action: "cancel" } });
    const [second] = await world.keys();
    await world.answer({ [second as string]: { action: "accept", content: 1 } });
    await world.saved();
    expect(world.backend.of().answers).toMatchObject([{ content: 1 }]);
  });

  it("takes all answers or none: content that does not fit names its path, and every key stays open", async () => {
    const world = await open();
    world.backend.of().ask({ name: "first", schema });
    world.backend.of().ask({ name: "second", schema });
    const [first, second] = await world.keys();
    const refused = world.answer({
      [first as string]: yes,
      [second as string]: { action: "accept", content: { ok: "maybe" } },
    });
    await expect(refused).rejects.toMatchObject({ code: "invalid_input", data: { path: `${second}.content` } });
    expect(await world.keys()).toEqual([first, second]);
    expect(world.backend.callsOf("answer")).toEqual([]);
  });

  it("that the backend withdraws is closed", async () => {
    const world = await open();
    world.backend.of().ask();
    await world.saved();
    await world.clock.advance(10);
    world.backend.of().withdraw();
    await world.clock.advance(1_000);
    expect(await world.keys()).toEqual([]);
    expect((await world.saved()).state).toBe("running");
  });

  it("whose answer the backend refuses is asked again, and the task says why", async () => {
    let refusals = 1;
    const onAnswer = (): void => {
      if (refusals-- > 0) throw new BridgeError("invalid_input", "not that version");
    };
    const world = await open({ adapter: { onAnswer } });
    world.backend.of().ask({ message: "Version?" });
    const [first] = await world.keys();
    await world.answer({ [first as string]: { action: "accept", content: "1" } });
    await world.clock.advance(5_000);
    const [second] = await world.keys();
    expect(second).not.toBe(first);
    expect(await world.saved()).toMatchObject({
      state: "waiting",
      message: expect.stringContaining("not that version"),
    });
    expect(world.audited("answer_rejected")).toHaveLength(1);
    await world.answer({ [second as string]: { action: "accept", content: "2" } });
    await world.saved();
    expect(world.backend.of().answers).toMatchObject([{ content: "2" }]);
  });

  it("is cancelled at the backend when nobody answers within questionTimeoutMs, and who waits is answered (case 8)", async () => {
    const world = await open({
      task: { questionTimeoutMs: 30_000 },
      adapter: { onAnswer: (execution) => execution.fail("nobody answered") },
    });
    world.backend.of().ask();
    await world.saved();
    const wait = world.engine.waitForTask(world.taskId, mine, { until: "ended", timeoutMs: 120_000 });
    await world.clock.advance(29_000);
    expect(world.backend.callsOf("answer")).toEqual([]);
    await world.clock.advance(2_000);
    expect((await wait).record).toMatchObject({ state: "failed", message: "nobody answered" });
    expect(world.audited("question_timed_out")).toHaveLength(1);
    const { length } = (await world.saved()).questions.filter(({ state }) => state === "open" || state === "answered");
    expect(length).toBe(0);
  });

  it("does not keep a task beyond maxRunMs: who waits is answered, the payloads are freed (case 8)", async () => {
    const world = await open({ task: { maxRunMs: 30_000 } });
    world.backend.of().ask();
    const [key] = await world.keys();
    const wait = world.engine.waitForTask(world.taskId, mine, { until: "ended", timeoutMs: 120_000 });
    await world.clock.advance(31_000);
    expect((await wait).record).toMatchObject({ state: "failed", failure: { code: "max_run" } });
    expect(world.backend.of().snapshot.status).toBe("cancelled");
    expect(await world.store.readPayload(world.taskId, `secret:${key}`, { offset: 0, length: 9 })).toBeUndefined();
    expect((await world.answer({ [key as string]: { action: "accept" } })).ignored).toEqual([key]);
  });

  it.each([
    ["acknowledged", stop],
    ["latched", finalStop],
  ] as const)("is cleared when the task is cancelled (%s), for good", async (_what, how) => {
    const world = await open({ adapter: { traits: { cancel: "requested" } } });
    world.backend.of().ask();
    const [key] = await world.keys();
    await world.engine.cancelTask(world.taskId, mine, how);
    world.backend.of().ask();
    expect(await world.keys()).toEqual([]);
    expect((await world.answer({ [key as string]: { action: "accept" } })).ignored).toEqual([key]);
    expect(await world.store.readPayload(world.taskId, `secret:${key}`, { offset: 0, length: 9 })).toBeUndefined();
  });

  it("cannot be answered where the backend takes no answers", async () => {
    const world = await open({ adapter: { without: ["answer"] } });
    world.backend.of().ask();
    const [key] = await world.keys();
    await expect(world.answer({ [key as string]: { action: "accept" } })).rejects.toMatchObject({
      code: "unsupported",
    });
    expect(await world.keys()).toEqual([key]);
  });
});

describe("the secret of a question", () => {
  it.each([
    ["as it is, without a key", undefined],
    ["encrypted, with a key", new Uint8Array(32).fill(7)],
  ] as const)("is in no record, view or event, is stored %s, and reaches the adapter", async (_how, encryptionKey) => {
    const world = await open(encryptionKey === undefined ? {} : { encryptionKey });
    world.backend.of().ask({ secret: "fake-secret-token" });
    const [key] = await world.keys();
    world.backend.faults.next("answer", { before: "unavailable" });
    const report = await world.answer({ [key as string]: { action: "accept" } });
    const seen = [
      await world.saved(),
      await world.engine.readTask(world.taskId, mine),
      await world.engine.explainTask(world.taskId),
      report,
    ];
    const stored = await world.store.readPayload(world.taskId as TaskId, `secret:${key}`, { offset: 0, length: 999 });
    expect(Buffer.from(stored?.bytes ?? []).includes("fake-secret-token")).toBe(encryptionKey === undefined);
    await world.clock.advance(5_000);
    expect(JSON.stringify([...seen, await world.saved(), world.audit])).not.toContain("fake-secret");
    expect(world.backend.of().answers).toHaveLength(1);
    expect(await world.store.readPayload(world.taskId, `secret:${key}`, { offset: 0, length: 9 })).toBeUndefined();
  });
});

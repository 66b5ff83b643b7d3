import { describe, expect, it } from "@jest/globals";
import {
  asExecutionRef,
  asStartKey,
  type CallContext,
  type ExecutionRef,
  type ExecutionUpdate,
  type InspectOutcome,
  type WorkflowAdapter,
} from "../../src/adapter.ts";
import { fakeClock } from "../../src/testing/fake-clock.ts";
import { type FakeTarget, fakeAdapter } from "../../src/testing.ts";

const context = (signal: AbortSignal = new AbortController().signal): CallContext => ({
  signal,
  now: () => 0,
  log: () => {},
});
const request = (key: string, input = "{}") => ({ key: asStartKey(key), target: { run: "job" }, input, attempt: 1 });

const inspection = async (
  adapter: WorkflowAdapter<FakeTarget>,
  ref: ExecutionRef,
  want: "status" | "detail" = "status",
): Promise<InspectOutcome> => {
  const [outcome] = (await adapter.inspect?.([{ ref, want }], context())) ?? [];
  if (outcome === undefined) throw new Error("no outcome");
  return outcome;
};

describe("fakeAdapter", () => {
  it("starts once for a key, refuses another input, and starts again after forget", async () => {
    const { adapter, backend } = fakeAdapter();
    const { ref } = await adapter.start(request("a"), context());
    await expect(adapter.start(request("a"), context())).resolves.toMatchObject({ ref });
    await expect(adapter.start(request("a", "[]"), context())).rejects.toMatchObject({ code: "conflict" });
    expect(backend.starts("a")).toBe(1);
    await adapter.forget?.(ref, context());
    await adapter.start(request("a"), context());
    expect(backend.starts("a")).toBe(2);
    expect(backend.callsOf("start").map((call) => call.keys)).toEqual([["a"], ["a"], ["a"], ["a"]]);
  });

  it("starts and loses the answer, or hangs until the signal, before or after acceptance", async () => {
    const { adapter, backend } = fakeAdapter();
    backend.faults.next("start", { after: "lost-answer" });
    await expect(adapter.start(request("a"), context())).rejects.toMatchObject({
      code: "outcome_unknown",
      notSent: false,
    });
    expect(backend.starts("a")).toBe(1);

    for (const [key, fault, starts] of [
      ["b", { after: "hang" }, 1],
      ["c", { before: "hang" }, 0],
    ] as const) {
      const abort = new AbortController();
      backend.faults.next("start", fault);
      const pending = adapter.start(request(key), context(abort.signal));
      abort.abort();
      await expect(pending).rejects.toMatchObject({ code: "outcome_unknown" });
      expect(backend.starts(key)).toBe(starts);
    }
  });

  it("throttles, and says what was not sent", async () => {
    const { adapter, backend } = fakeAdapter();
    backend.faults.next("start", { before: { code: "throttled", retryAfterMs: 700 } });
    backend.faults.next("start", { before: { code: "unavailable", notSent: true } });
    await expect(adapter.start(request("a"), context())).rejects.toMatchObject({
      code: "throttled",
      retryAfterMs: 700,
    });
    await expect(adapter.start(request("a"), context())).rejects.toMatchObject({ code: "unavailable", notSent: true });
    expect(backend.starts()).toBe(0);
    backend.faults.always("inspect", { before: "throttled" });
    await expect(adapter.inspect?.([], context())).rejects.toMatchObject({ code: "throttled" });
    backend.faults.clear();
    await expect(adapter.inspect?.([], context())).resolves.toEqual([]);
  });

  it("tells a stale state, an evolved ref, a vanished execution and a hung item among good ones", async () => {
    const clock = fakeClock();
    const { adapter, backend } = fakeAdapter({ clock, startsAs: "queued", evolvingRefs: true });
    const { ref } = await adapter.start(request("a"), context());
    const { ref: other } = await adapter.start(request("b"), context());
    await clock.advance(1_000);
    const execution = backend.of("a");
    execution.run();
    backend.staleMs = 500;
    expect(await inspection(adapter, ref)).toMatchObject({ snapshot: { status: "queued" } });
    await clock.advance(500);
    expect(await inspection(adapter, ref)).toMatchObject({ snapshot: { status: "running" }, ref: execution.ref });
    expect(execution.ref).not.toBe(ref);

    execution.nextInspect("hang");
    const batch = adapter.inspect?.(
      [ref, other].map((item) => ({ ref: item, want: "status" as const })),
      context(),
    );
    await clock.advance(1_000);
    expect(await batch).toMatchObject([
      { unavailable: "no answer within 1000 ms" },
      { snapshot: { status: "queued" } },
    ]);

    execution.vanish();
    expect(await inspection(adapter, ref)).toMatchObject({ notFound: { proven: false } });
    backend.vanishAll({ proven: true, reason: "trimmed" });
    expect(await inspection(adapter, other)).toEqual({ notFound: { proven: true, reason: "trimmed" } });
    execution.reappear();
    expect(await inspection(adapter, ref)).toMatchObject({ snapshot: { status: "running" } });
    expect(await inspection(adapter, asExecutionRef("garbage"))).toMatchObject({ error: { code: "invalid_input" } });
  });

  it("asks, re-asks under another ID, hides detail, guards the secret and takes an answer once", async () => {
    const { adapter, backend } = fakeAdapter({ hidesDetail: true });
    const { ref } = await adapter.start(request("a"), context());
    const execution = backend.of("a");
    const question = execution.ask({ name: "approve" });
    expect(await inspection(adapter, ref)).toEqual({
      snapshot: expect.not.objectContaining({ questions: expect.anything() }),
    });
    expect(await inspection(adapter, ref, "detail")).toMatchObject({
      snapshot: { status: "waiting", questions: [question] },
    });
    const answer = { answerId: "1", attempt: 1, question, action: "accept", content: { ok: true } } as const;
    const { secret: _secret, ...open } = question;
    await expect(adapter.answer?.(ref, { ...answer, question: open }, context())).rejects.toMatchObject({
      code: "denied",
    });
    backend.faults.next("answer", { after: "lost-answer" });
    await expect(adapter.answer?.(ref, answer, context())).rejects.toMatchObject({ code: "outcome_unknown" });
    await adapter.answer?.(ref, { ...answer, attempt: 2 }, context());
    expect(execution.answers).toMatchObject([{ action: "accept", content: { ok: true }, deliveries: 2 }]);
    await expect(adapter.answer?.(ref, { ...answer, answerId: "2" }, context())).rejects.toMatchObject({
      code: "conflict",
    });
    expect(execution.ask({ name: "approve" }).id).toBe("approve#2");
  });

  it("fails an execution whose heartbeats stop", async () => {
    const clock = fakeClock();
    const { adapter, backend } = fakeAdapter({ clock });
    const { ref } = await adapter.start(request("a"), context());
    const execution = backend.of("a");
    const question = execution.ask({ heartbeatMs: 100 });
    for (let beat = 0; beat < 3; beat++) {
      await clock.advance(90);
      await adapter.heartbeat?.(ref, question, context());
    }
    expect(execution.snapshot.status).toBe("waiting");
    backend.faults.next("heartbeat", { before: "unavailable" });
    await expect(adapter.heartbeat?.(ref, question, context())).rejects.toMatchObject({ code: "unavailable" });
    await clock.advance(100);
    expect(execution.snapshot).toMatchObject({ status: "failed", failure: { code: "heartbeat_timeout" } });
    expect(execution.beats).toHaveLength(3);
  });

  it("cancels at once, slowly, or too late, as it is told", async () => {
    const clock = fakeClock();
    const { adapter, backend } = fakeAdapter({
      clock,
      onCancel: (execution) => {
        if (execution.key === "slow") clock.schedule(500, () => execution.stop());
        if (execution.key === "race") execution.succeed("made it");
      },
    });
    const statuses = async (): Promise<readonly string[]> => backend.executions.map(({ snapshot }) => snapshot.status);
    for (const key of ["slow", "race"]) {
      const { ref } = await adapter.start(request(key), context());
      await adapter.cancel?.(ref, "enough", context());
      await adapter.cancel?.(ref, "enough", context());
    }
    expect(await statuses()).toEqual(["running", "succeeded"]);
    expect(backend.executions.map(({ cancels }) => cancels.length)).toEqual([2, 1]);
    await clock.advance(500);
    backend.of("slow").succeed("late");
    expect(await statuses()).toEqual(["succeeded", "succeeded"]);
  });

  it("tells events before the start is answered, resumes from a cursor, repeats and reorders", async () => {
    const { adapter, backend } = fakeAdapter();
    const seen: ExecutionUpdate[] = [];
    let cursor: string | undefined;
    const watch = (from?: string) =>
      adapter.watch?.(
        {
          targets: [],
          ...(from === undefined ? {} : { cursor: from }),
          sink: async (updates, next) => {
            seen.push(...updates);
            cursor = next ?? cursor;
          },
          ended: () => {},
        },
        context(),
      );
    const subscription = await watch();
    backend.faults.next("start", { after: "lost-answer" });
    await adapter.start(request("a"), context()).catch(() => {});
    await backend.events.settled();
    expect(seen).toMatchObject([{ key: "a", ref: backend.of("a").ref, snapshot: { status: "running" } }]);
    await subscription?.close();
    backend.of("a").succeed(1);
    expect(seen).toHaveLength(1);
    await watch(cursor);
    await backend.events.settled();
    expect(seen.map((update) => update.snapshot?.status)).toEqual(["running", "succeeded"]);
    backend.events.send(...backend.events.log.toReversed());
    await backend.events.settled();
    expect(seen.map((update) => update.snapshot?.status)).toEqual(["running", "succeeded", "succeeded", "running"]);
  });

  it("reads a large output in ranges, one of which may fail", async () => {
    const { adapter, backend } = fakeAdapter({ outputChunkBytes: 4 });
    const { ref } = await adapter.start(request("a"), context());
    backend.of("a").succeedWithStream("0123456789");
    expect(await inspection(adapter, ref)).toMatchObject({ snapshot: { output: { kind: "stream", bytes: 10 } } });
    const read = (offset: number) => adapter.readOutput?.(ref, { offset, length: 100 }, context());
    await expect(read(0)).resolves.toEqual({ bytes: new TextEncoder().encode("0123"), totalBytes: 10 });
    backend.faults.next("readOutput", { before: "unavailable" });
    await expect(read(4)).rejects.toMatchObject({ code: "unavailable" });
    await expect(read(8)).resolves.toEqual({ bytes: new TextEncoder().encode("89"), totalBytes: 10 });
  });

  it("starts twice without idempotency, and finds what has settled", async () => {
    const clock = fakeClock();
    const start = { kind: "findable", visibilityDelayMs: 100, windowMs: 1_000 } as const;
    const { adapter, backend } = fakeAdapter({ clock, traits: { start }, findableAfterMs: 100, without: ["watch"] });
    await adapter.start(request("a"), context());
    const find = (key: string) =>
      adapter.find?.({ key: asStartKey(key), target: { run: "job" }, firstSentAt: 0 }, context());
    expect(await find("a")).toBeUndefined();
    await clock.advance(100);
    expect(await find("a")).toBe(backend.of("a").ref);
    expect(await find("b")).toBeUndefined();
    await adapter.start(request("a"), context());
    expect(backend.starts("a")).toBe(2);
    expect(adapter.watch).toBeUndefined();
  });

  it("lets replicas share a backend, and closes one without the other", async () => {
    const { adapter, backend } = fakeAdapter();
    const replica = backend.connect();
    const { ref } = await adapter.start(request("a"), context());
    await adapter.close?.();
    await adapter.close?.();
    await expect(adapter.start(request("b"), context())).rejects.toMatchObject({ code: "unavailable", notSent: true });
    expect(await inspection(replica, ref)).toMatchObject({ snapshot: { status: "running" } });
    await expect(replica.receive?.(backend.webhook([{ ref }], { signed: false }), context())).rejects.toMatchObject({
      code: "denied",
    });
    await expect(replica.receive?.(backend.webhook([{ ref }]), context())).resolves.toEqual([{ ref }]);
  });
});

import { describe, expect, it } from "@jest/globals";
import { createWorld, finalStop, mine, type Process, startTask, stop, type WorldOptions } from "../harness.ts";

const open = async (options: WorldOptions = {}) => {
  const world = createWorld(options);
  const process = await world.boot();
  const { record } = await startTask(process);
  const { taskId } = record;
  const text = async ({ engine }: Pick<Process, "engine"> = process): Promise<string> => {
    const { bytes } = await engine.readOutput(taskId, mine, { offset: 0, length: 1_000_000 });
    return Buffer.from(bytes).toString("utf8");
  };
  return { ...world, ...process, taskId, text, saved: () => world.record(taskId) };
};

const unavailable = { kind: "protocol", code: "result_unavailable" };

describe("the result of a task", () => {
  it.each([
    ["JSON", { kind: "json", value: { a: [1, "ü"] } }, '{"a":[1,"ü"]}', "application/json"],
    ["JSON null", { kind: "json", value: null }, "null", "application/json"],
    ["text", { kind: "text", text: "grüße\n" }, "grüße\n", "text/plain"],
    ["empty text", { kind: "text", text: "" }, "", "text/plain"],
    ["nothing", undefined, "", "text/plain"],
  ] as const)("is kept exactly: %s", async (_what, output, expected, mediaType) => {
    const world = await open();
    if (output === undefined) world.backend.of().succeed();
    else world.backend.of().succeedWith(output);
    await world.clock.settle();
    const { record, output: inlined } = await world.engine.readTask(world.taskId, mine);
    expect(record).toMatchObject({ state: "succeeded", output: { mediaType, bytes: Buffer.byteLength(expected) } });
    expect(Buffer.from(inlined ?? []).toString("utf8")).toBe(expected);
    expect(await world.text()).toBe(expected);
  });

  it("is still there when the backend has forgotten the execution", async () => {
    const world = await open();
    world.backend.of().succeed({ kept: "here" });
    await world.clock.settle();
    world.backend.vanishAll({ proven: true });
    await world.clock.advance(600_000);
    const next = await world.boot();
    expect(await world.text(next)).toBe('{"kept":"here"}');
  });

  it("is kept from the first look that sees the end, although nobody reads the task", async () => {
    const world = await open({ adapter: { without: ["watch"] }, limits: { sweepIntervalMs: 10_000 } });
    world.backend.of().succeed("seen");
    await world.clock.advance(20_000);
    world.backend.vanishAll({ proven: true });
    expect(await world.text()).toBe('"seen"');
  });

  it("is told whole to readers up to the inline limit, and its beginning above", async () => {
    const world = await open({ limits: { maxInlineResultBytes: 5 } });
    world.backend.of().succeedWith({ kind: "text", text: "0123456789" });
    await world.clock.settle();
    const view = await world.engine.readTask(world.taskId, mine);
    expect(view.record.output?.bytes).toBe(10);
    expect(Buffer.from(view.output ?? []).toString()).toBe("01234");
  });

  it("can be read in ranges of bytes, which join to the whole", async () => {
    const world = await open();
    const whole = "grüße an die welt";
    world.backend.of().succeedWith({ kind: "text", text: whole });
    await world.clock.settle();
    const total = Buffer.byteLength(whole);
    const parts: Uint8Array[] = [];
    for (let offset = 0; offset < total; offset += 4) {
      const part = await world.engine.readOutput(world.taskId, mine, { offset, length: 4 });
      expect(part).toMatchObject({ totalBytes: total, mediaType: "text/plain" });
      parts.push(part.bytes);
    }
    expect(Buffer.concat(parts).toString("utf8")).toBe(whole);
    expect((await world.engine.readOutput(world.taskId, mine, { offset: total, length: 4 })).bytes).toHaveLength(0);
  });

  it.each([
    ["offset", { offset: -1, length: 1 }],
    ["offset", { offset: 0.5, length: 1 }],
    ["offset", { offset: 5, length: 1 }],
    ["length", { offset: 0, length: 0 }],
    ["length", { offset: 0, length: Number.NaN }],
  ])("refuses a range with a wrong %s, naming it", async (path, range) => {
    const world = await open();
    world.backend.of().succeedWith({ kind: "text", text: "1234" });
    await world.clock.settle();
    await expect(world.engine.readOutput(world.taskId, mine, range)).rejects.toMatchObject({
      code: "invalid_input",
      data: { path },
    });
  });

  it("is not there before the end, nor of a task that failed", async () => {
    const world = await open();
    await expect(world.text()).rejects.toMatchObject({ code: "unsupported" });
    world.backend.of().fail("broke");
    await world.clock.settle();
    await expect(world.text()).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("a large result", () => {
  const content = Array.from({ length: 50 }, (_, line) => `line ${line}`).join("\n");

  it.each([[true], [false]])("is fetched in parts before the task ends (size told: %s)", async (declaresSize) => {
    const world = await open({ adapter: { outputChunkBytes: 100 } });
    world.backend.of().succeedWithStream(content, { declaresSize });
    await world.clock.advance(10);
    expect(await world.saved()).toMatchObject({
      state: "succeeded",
      output: { mediaType: "text/plain", bytes: content.length },
      effects: [],
    });
    expect(await world.text()).toBe(content);
    expect(world.backend.callsOf("readOutput").length).toBe(Math.ceil(content.length / 100));
  });

  it("is fetched again after a part that failed, and is never seen in part", async () => {
    const world = await open({ adapter: { outputChunkBytes: 100 } });
    world.backend.faults.next("readOutput", {});
    world.backend.faults.next("readOutput", { before: { code: "unavailable", retryAfterMs: 3_000 } });
    world.backend.of().succeedWithStream(content);
    await world.clock.advance(2_000);
    expect(await world.saved()).toMatchObject({ state: "running", slotHeld: false });
    await expect(world.text()).rejects.toMatchObject({ code: "unsupported" });
    await world.clock.advance(2_000);
    expect(await world.text()).toBe(content);
  });

  it("above maxResultBytes fails the task, saying so", async () => {
    for (const declaresSize of [true, false]) {
      const world = await open({ limits: { maxResultBytes: 100 }, adapter: { outputChunkBytes: 60 } });
      world.backend.of().succeedWithStream(content, { declaresSize });
      await world.clock.advance(10);
      expect(await world.saved()).toMatchObject({
        state: "failed",
        failure: { ...unavailable, reason: expect.stringContaining("larger than the 100 bytes") },
        effects: [],
      });
    }
  });

  it("that the backend no longer has fails the task, saying so", async () => {
    const world = await open();
    world.backend.faults.next("readOutput", { before: { code: "not_found", message: "the log has rotated" } });
    world.backend.of().succeedWithStream(content);
    await world.clock.advance(10);
    expect(await world.saved()).toMatchObject({
      state: "failed",
      failure: { ...unavailable, reason: expect.stringContaining("rotated") },
    });
  });

  it("that the adapter announces but cannot read fails the task", async () => {
    const world = await open({ adapter: { without: ["readOutput"] } });
    world.backend.of().succeedWithStream(content);
    await world.clock.advance(10);
    expect(await world.saved()).toMatchObject({ state: "failed", failure: unavailable });
  });

  it("is dropped when the task is cancelled at once meanwhile, and kept when a cancel is only acknowledged", async () => {
    for (const [how, state] of [
      [finalStop, "cancelled"],
      [stop, "succeeded"],
    ] as const) {
      const world = await open({ adapter: { outputChunkBytes: 100 } });
      world.backend.faults.next("readOutput", { answerDelayMs: 5_000 });
      world.backend.of().succeedWithStream(content);
      await world.clock.advance(1_000);
      await world.engine.cancelTask(world.taskId, mine, how);
      await world.clock.advance(20_000);
      expect(await world.saved()).toMatchObject({ state, effects: [], slotHeld: false });
      expect(world.backend.callsOf("cancel")).toEqual([]);
      expect(world.backend.callsOf("readOutput").length).toBe(
        state === "cancelled" ? 1 : Math.ceil(content.length / 100),
      );
    }
  });

  it("leaves nothing of a task that was deleted while it was fetched", async () => {
    const world = await open({ adapter: { outputChunkBytes: 100 } });
    world.backend.faults.next("readOutput", { answerDelayMs: 5_000 });
    world.backend.of().succeedWithStream(content);
    await world.clock.advance(1_000);
    await world.engine.deleteTask(world.taskId, mine);
    await world.clock.advance(20_000);
    expect(await world.saved()).toBeUndefined();
    expect(world.audited("internal_error")).toEqual([]);
  });

  it("is whole in the end although a process that was stopped between reading and writing wakes up after another", async () => {
    let onRead = (): void => {};
    const world = await open({
      adapter: { outputChunkBytes: 100 },
      wrapStore: (store) => ({
        ...store,
        read: async (taskId) => {
          const record = await store.read(taskId);
          onRead();
          return record;
        },
      }),
    });
    world.backend.faults.next("readOutput", { answerDelayMs: 1_000 });
    world.backend.of().succeedWithStream(content);
    await world.clock.advance(500);
    onRead = () => {
      onRead = () => {};
      world.pause();
    };
    await world.clock.advance(1_000);
    const other = await world.boot();
    await world.clock.advance(60_000);
    expect(await world.text(other)).toBe(content);
    world.resume();
    await world.clock.settle();
    expect(await world.text(other)).toBe(content);
    expect(await world.saved()).toMatchObject({ state: "succeeded" });
    expect(world.audited("task_ended")).toHaveLength(1);
  });
});

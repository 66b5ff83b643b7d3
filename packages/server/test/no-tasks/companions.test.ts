import { afterEach, describe, expect, test } from "@jest/globals";
import { rpc2025 } from "../rpc-2025.ts";
import { serve, stopAll } from "../serve.ts";
import { endOf, eras, handleOf, joinHost, onClock, openHost, textOf } from "./hosts.ts";

afterEach(stopAll);

const tool = (more: object = {}) => ({ name: "job", adapter: "fake", target: { run: "job" }, ...more });

describe.each(eras)("[D-4] a host of %s", (era) => {
  test("case 24: gets the result of a long job later, by the status that it waits for", async () => {
    const { clock, options } = onClock();
    const host = await openHost(era, options);
    const taskId = handleOf(await host.call("job"));
    host.backend.of().progress({ done: 12, total: 40 });
    await clock.advance(10_000);
    const running = await host.call("task_status", { taskId });
    expect(running.result).toMatchObject({ isError: false, structuredContent: { taskId, taskStatus: "working" } });
    expect(textOf(running)).toBe(
      `Task ${taskId} of job is still running (12 of 40). It goes on by itself. To wait for its result, call task_status with taskId ${taskId} and waitSeconds 10.`,
    );
    const waiting = host.call("task_status", { taskId, waitSeconds: 45 });
    await clock.advance(1_000);
    host.backend.of().succeed({ files: 14 });
    const ended = await endOf(clock, waiting);
    expect(textOf(ended)).toBe(`Task ${taskId} of job has completed.\n{"files":14}`);
    expect(ended.result.isError).toBe(false);
    expect(host.backend.starts()).toBe(1);
  });

  test("case 22: no status takes longer than it was asked to wait", async () => {
    const { clock, options } = onClock();
    const host = await openHost(era, options);
    const taskId = handleOf(await host.call("job"));
    const began = clock.now();
    const answer = await endOf(clock, host.call("task_status", { taskId, waitSeconds: 45 }));
    expect(textOf(answer)).toContain("is still running");
    expect(clock.now() - began).toBeLessThanOrEqual(46_000);
  });

  test("[D-3] is told how it goes while it waits for a status, if it asks for that", async () => {
    const { clock, options } = onClock();
    const host = await openHost(era, options);
    const taskId = handleOf(await host.call("job"));
    const quiet = await endOf(clock, host.call("task_status", { taskId, waitSeconds: 40 }));
    expect(quiet.messages).toHaveLength(1);
    const meta = { _meta: { progressToken: "p" } };
    const session = await rpc2025(host.url);
    const reported = await endOf(
      clock,
      session.request("tools/call", { name: "task_status", arguments: { taskId, waitSeconds: 40 }, ...meta }),
    );
    expect(reported.messages.slice(0, -1)).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "p" } },
      { method: "notifications/progress", params: { progressToken: "p" } },
    ]);
  });

  test.each([
    ["fail", "has failed.\nexit code 2"],
    ["stop", "has failed.\nthe execution was stopped outside of this server"],
  ])("is told by status and result how a job has ended that did not succeed: %s", async (end, text) => {
    const { clock, options } = onClock();
    const host = await openHost(era, options);
    const taskId = handleOf(await host.call("job"));
    if (end === "fail") host.backend.of().fail("exit code 2");
    else host.backend.of().stop("stopped outside");
    await clock.advance(5_000);
    for (const name of ["task_status", "task_result"]) {
      const answer = await host.call(name, { taskId });
      expect(answer.result.isError).toBe(true);
      expect(textOf(answer)).toContain(`Task ${taskId} of job ${text}`);
    }
  });

  test("cancels, is told when that is done, and what is left when there was nothing to stop", async () => {
    const { clock, options } = onClock();
    const host = await openHost(era, options);
    const taskId = handleOf(await host.call("job"));
    const cancelled = await endOf(clock, host.call("task_cancel", { taskId }));
    expect(cancelled.result).toMatchObject({ isError: false, structuredContent: { taskId, taskStatus: "cancelled" } });
    expect(host.backend.of().cancels).toHaveLength(1);
    expect(textOf(await host.call("task_cancel", { taskId }))).toBe(
      `Task ${taskId} of job was cancelled. There was nothing left to stop.`,
    );
    const other = handleOf(await host.call("job"));
    host.backend.of().succeed("done");
    await clock.advance(5_000);
    expect(textOf(await host.call("task_cancel", { taskId: other }))).toBe(
      `Task ${other} of job has completed. There was nothing left to stop. Call task_status with taskId ${other} for its result.`,
    );
  });

  test("case 30: reads what is too large for one answer in pages, which lose and repeat nothing", async () => {
    const host = await openHost(era, { limits: { maxInlineResultBytes: 64 } });
    const taskId = handleOf(await host.call("job"));
    const whole = "zwölf Boxkämpfer jagen Viktor 🥊 quer über den großen Sylter Deich. ".repeat(40);
    host.backend.of().succeed(whole);
    await host.backend.events.settled();
    const preview = await host.call("task_status", { taskId });
    const bytes = Buffer.byteLength(JSON.stringify(whole));
    expect(textOf(preview)).toContain(`of ${bytes} bytes. Call task_result with taskId ${taskId} and offset 6`);
    expect(preview.result.content).toContainEqual(expect.objectContaining({ type: "resource_link", size: bytes }));
    expect(preview.result.structuredContent).toMatchObject({ next: expect.stringContaining("task_result") });
    let text = "";
    let offset: number | undefined = 0;
    for (let page = 0; page < 100 && offset !== undefined; page++) {
      const { result } = await host.call("task_result", { taskId, offset, length: 97 });
      const [part, note] = result.content as { text: string }[];
      text += part?.text ?? "";
      const next = /offset (\d+) to read on/.exec(note?.text ?? "")?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    expect(JSON.parse(text)).toBe(whole);
    const beyond = await host.call("task_result", { taskId, offset: bytes + 1 });
    expect(beyond.result.isError).toBe(true);
    expect(textOf(beyond)).toBe(`offset: the result has ${bytes} bytes, got ${bytes + 1}`);
    expect(textOf(await host.call("task_result", { taskId, offset: bytes }))).toContain("The result ends here.");
  });

  test("case 30: a structured result is not told twice when it is large, and can be had as text", async () => {
    const output = { type: "object", properties: { pad: { type: "string" } }, required: ["pad"] };
    const host = await openHost(era, { tools: [tool({ output })] });
    for (const [size, isDoubled] of [
      [10_000, true],
      [20_000, false],
    ] as const) {
      const taskId = handleOf(await host.call("job"));
      const value = { pad: "x".repeat(size) };
      host.backend.of().succeed(value);
      await host.backend.events.settled();
      const ended = await host.call("task_status", { taskId });
      expect(ended.result.structuredContent).toEqual(value);
      expect(textOf(ended).includes(value.pad)).toBe(isDoubled);
      expect(textOf(ended).length).toBeLessThan(isDoubled ? 20_000 : 5_000);
      expect(textOf(ended).includes("structuredContent has the whole")).toBe(!isDoubled);
      expect(JSON.parse(textOf(await host.call("task_result", { taskId })))).toEqual(value);
    }
  });

  test("is told that a task still runs when it asks for the result too soon", async () => {
    const host = await openHost(era);
    const taskId = handleOf(await host.call("job"));
    const answer = await host.call("task_result", { taskId });
    expect(answer.result.isError).toBe(false);
    expect(textOf(answer)).toContain("is still running");
  });

  test("case 27: [D-11] that invents an ID is told its own open tasks, and nobody else's", async () => {
    const auth = {
      authenticate: async (headers: Readonly<Record<string, string | undefined>>) => ({
        identity: { issuer: "test", subject: headers["x-user"] ?? "nobody" },
      }),
    };
    const served = await serve({ auth, waitMs: 0, limits: { maxConcurrentTasksPerOwner: 20 } });
    const ada = await joinHost(era, served, { headers: { "x-user": "ada" } });
    const eve = await joinHost(era, served, { headers: { "x-user": "eve" } });
    const nothing = await ada.call("task_status", { taskId: "made-up" });
    expect(nothing.result.isError).toBe(true);
    expect(textOf(nothing)).toBe('Task not found: "made-up". You have no open tasks.');
    const foreign = handleOf(await eve.call("job"));
    const mine = [];
    for (let count = 0; count < 12; count++) mine.push(handleOf(await ada.call("job")));
    served.backend.of().progress({ done: 1, total: 2 });
    for (const name of ["task_status", "task_result", "task_cancel"]) {
      const reported = textOf(await ada.call(name, { taskId: "made-up" }));
      expect(reported.split("\n")).toHaveLength(11);
      expect(reported).toContain(`- ${mine.at(-1)} of job: running`);
      expect(reported).not.toContain(foreign);
      // Exactly as of one that nobody has.
      expect(textOf(await ada.call(name, { taskId: foreign }))).toBe(reported.replace("made-up", foreign));
    }
    expect(served.backend.of().cancels).toEqual([]);
  });

  test("is told no more of an ID than it takes to know it again", async () => {
    const host = await openHost(era);
    const reported = textOf(await host.call("task_status", { taskId: `\u0007"${"x".repeat(10_000)}` }));
    expect(reported.length).toBeLessThan(200);
    expect(reported).not.toContain("\u0007");
  });

  test("case 2, case 7: is told that a task has expired, once its result was kept as long as promised", async () => {
    const { clock, options } = onClock({ tools: [tool({ task: { retentionMs: 60_000 } })] });
    const host = await openHost(era, options);
    const taskId = handleOf(await host.call("job"));
    // Longer than the retention, which counts from the end.
    await clock.advance(600_000);
    host.backend.of().succeed("done");
    await clock.advance(35_000);
    expect(textOf(await host.call("task_status", { taskId }))).toContain('"done"');
    await clock.advance(90_000);
    const expired = await host.call("task_status", { taskId });
    expect(expired.result.isError).toBe(true);
    expect(textOf(expired)).toMatch(/^Task (has expired|not found): "\w+"\. You have no open tasks\.$/);
  });

  test("[D-11] a retried call is folded into the task that runs, and says so", async () => {
    const host = await openHost(era, { tools: [tool({ task: { dedupeWindowMs: 600_000 } })] });
    const first = await host.call("job", { a: 1 });
    const again = await host.call("job", { a: 1 });
    expect(handleOf(again)).toBe(handleOf(first));
    expect(textOf(first)).not.toContain("Nothing new was started");
    expect(textOf(again)).toMatch(/^Nothing new was started: the same call runs already\. Task /);
    expect(handleOf(await host.call("job", { a: 2 }))).not.toBe(handleOf(first));
    expect(host.backend.starts()).toBe(2);
  });

  test("that looks too early again and again is told to leave it for longer and longer", async () => {
    const { clock, options } = onClock({ waitMs: 30_000 });
    const host = await openHost(era, options);
    const taskId = handleOf(await endOf(clock, host.call("job")));
    const rests = [];
    for (let inspect = 0; inspect < 7; inspect++) {
      await clock.advance(4_000);
      const answer = await host.call("task_status", { taskId });
      rests.push((answer.result.structuredContent as { pollIntervalMs: number }).pollIntervalMs);
      expect(textOf(answer)).toContain(`look again in ${(rests.at(-1) ?? 0) / 1000} s at the earliest`);
    }
    expect(rests).toEqual([30_000, 60_000, 120_000, 240_000, 300_000, 300_000, 300_000]);
    // Who waits as advised is not.
    const patient = await endOf(clock, host.call("task_status", { taskId, waitSeconds: 30 }));
    expect(textOf(patient)).toContain(
      `To wait for its result, call task_status with taskId ${taskId} and waitSeconds 30.`,
    );
  });
});

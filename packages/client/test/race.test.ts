import { afterEach, describe, expect, test } from "@jest/globals";
import { type SdkClient, taskClient } from "../src/index.ts";
import { type Sep1686Server, type Sep1686ServerOptions, sep1686Server } from "./sep1686-server.ts";
import { endAll, eventually, firstOverHttp, jsonOf, secondOverHttp } from "./serve.ts";

afterEach(endAll);

const methodsOf = (server: Sep1686Server): readonly unknown[] => server.received.map(({ method }) => method);

describe.each<[string, (url: string) => Promise<SdkClient>]>([
  ["SDK 1", firstOverHttp],
  ["SDK 2", (url) => secondOverHttp(url, "legacy")],
])("the race of the draft on %s", (_name, connect) => {
  const begin = async (options: Sep1686ServerOptions) => {
    const server = await sep1686Server(options);
    // Where the answer comes, or the connection breaks, the task is not to be looked for because time has passed.
    const isReported = options.breaks !== undefined || options.notice === "after the answer";
    const noticeTimeoutMs = isReported ? 60_000 : 50;
    const calls = taskClient(await connect(server.url), { noticeTimeoutMs });
    expect(calls.wire).toBe("sep-1686");
    const pending = calls.beginCall("job", {}, { taskId: "mine-1" });
    expect(pending.taskId).toBe("mine-1");
    return { server, calls, pending };
  };

  test("notice first: the result is fetched though the call is never answered", async () => {
    const { server, pending } = await begin({ answers: false });
    expect(await pending.created).toBe("mine-1");
    server.finish();
    expect(await jsonOf(pending)).toEqual({ done: true });
    expect(server.executions()).toBe(1);
    expect(methodsOf(server)).toContain("tasks/result");
  });

  test("answer first: it is the result, and nothing is polled", async () => {
    const { server, pending } = await begin({ notice: "after the answer", instant: true });
    expect(await jsonOf(pending)).toEqual({ done: true });
    expect(server.executions()).toBe(1);
    expect(methodsOf(server)).not.toContain("tasks/get");
  });

  test("notice lost: the task is looked for", async () => {
    const { server, pending } = await begin({ notice: "lost", answers: false });
    expect(await pending.created).toBe("mine-1");
    server.finish();
    expect(await jsonOf(pending)).toEqual({ done: true });
    expect(server.executions()).toBe(1);
  });

  test.each<[string, Sep1686ServerOptions, number]>([
    ["before the start: sent again with the same ID", { breaks: "before the start" }, 2],
    ["after the start: the task is found", { breaks: "after the start" }, 1],
    ["after the start, and a look misses it: sent again, and it exists", { breaks: "after the start", misses: 1 }, 2],
  ])("connection lost %s", async (_when, options, sends) => {
    const { server, pending } = await begin({ ...options, answers: false });
    expect(await pending.created).toBe("mine-1");
    await eventually(() => server.executions() === 1);
    server.finish();
    expect(await jsonOf(pending)).toEqual({ done: true });
    expect(methodsOf(server).filter((method) => method === "tools/call")).toHaveLength(sends);
    expect(server.executions()).toBe(1);
  });

  test("server without task support: the answer is the result, and no task is claimed", async () => {
    const { server, pending } = await begin({ tasks: false });
    await eventually(() => methodsOf(server).includes("tasks/get"));
    server.finish();
    expect(await jsonOf(pending)).toEqual({ done: true });
    expect(await pending.created).toBeUndefined();
    expect(server.executions()).toBe(1);
    expect(methodsOf(server).filter((method) => method === "tasks/get")).toHaveLength(1);
  });

  test("server without task support, connection lost: it is not run again", async () => {
    const { server, pending } = await begin({ tasks: false, breaks: "after the start" });
    await expect(pending.result()).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(server.executions()).toBe(1);
  });

  test("the ID of an earlier call starts nothing, and is followed", async () => {
    const { server, calls, pending } = await begin({ answers: false });
    await pending.created;
    pending.detach();
    const again = calls.beginCall("job", {}, { taskId: "mine-1" });
    server.finish();
    expect(await jsonOf(again)).toEqual({ done: true });
    expect(server.executions()).toBe(1);
  });

  test("a wait that ends by time sends no cancellation", async () => {
    const { server, calls } = await begin({});
    const timed = calls.beginCall("job", {}, { taskId: "mine-2", timeoutMs: 20 });
    await expect(timed.result()).rejects.toMatchObject({ code: "timeout", taskId: "mine-2" });
    await timed.created;
    // Whatever was under way before this is there when it is answered.
    await calls.read("mine-2");
    expect(methodsOf(server)).not.toContain("notifications/cancelled");
    await timed.cancel();
    await eventually(() => methodsOf(server).includes("notifications/cancelled"));
  });
});

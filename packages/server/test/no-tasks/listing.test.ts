import { afterEach, describe, expect, test } from "@jest/globals";
import { rpc2025 } from "../rpc-2025.ts";
import { serve, start, stopAll } from "../serve.ts";
import { eras, joinHost, openHost, textOf } from "./hosts.ts";

afterEach(stopAll);

const companions = ["task_status", "task_result", "task_cancel"];
const forbidden = { name: "job", adapter: "fake", target: { run: "job" }, task: { support: "forbidden" as const } };

describe("[D-4] the companion tools", () => {
  test.each(eras)("are listed once for a host of %s, after the tools of the server", async (era) => {
    const host = await openHost(era);
    const tools = await host.list();
    expect(tools.map(({ name }) => name)).toEqual(["job", ...companions]);
    for (const { name, description, inputSchema, annotations } of tools.slice(1)) {
      expect(description).toMatch(/\w/);
      expect(inputSchema).toMatchObject({ type: "object", required: ["taskId"], additionalProperties: false });
      expect(annotations).toMatchObject({ readOnlyHint: name !== "task_cancel" });
    }
  });

  test("say to a client of 2025-11-25 that they are no tasks, and are none", async () => {
    const { url } = await serve();
    const session = await rpc2025(url);
    const { tools } = (await session.request("tools/list")).result as { tools: { execution: object }[] };
    expect(tools.slice(1).map(({ execution }) => execution)).toEqual(
      companions.map(() => ({ taskSupport: "forbidden" })),
    );
    const { error } = await session.request("tools/call", {
      name: "task_status",
      arguments: { taskId: "x" },
      task: {},
    });
    expect(error.code).toBe(-32_601);
  });

  test("are there for a client of an earlier revision", async () => {
    const { url } = await serve();
    const session = await rpc2025(url, { revision: "2025-06-18" });
    const { tools } = (await session.request("tools/list")).result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(["job", ...companions]);
  });

  test("are hidden from requests that declare the extension, and cannot be called by them", async () => {
    const { rpc } = await serve();
    const { tools } = (await rpc("tools/list")).result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(["job"]);
    const { error } = await rpc("tools/call", { name: "task_status", arguments: { taskId: "x" } });
    expect(error).toMatchObject({ code: -32_602, message: "Unknown tool: task_status" });
  });

  test.each([
    [{ companions: "always" as const }, true, true],
    [{ companions: "never" as const }, false, false],
    // Here nobody gets a task, whatever is declared.
    [{ wires: ["none" as const] }, true, true],
    // Here nobody gets a handle.
    [{ wires: ["2026-07-28" as const] }, false, false],
    [{ tools: [forbidden] }, false, false],
    [{ tools: [forbidden], companions: "always" as const }, true, true],
  ])(
    "with %j are listed for callers of 2026-07-28 without the extension: %s, with it: %s",
    async (options, without, withIt) => {
      const { rpc } = await serve(options);
      const listed = async (tasks: boolean) =>
        ((await rpc("tools/list", {}, { tasks })).result.tools as { name: string }[]).some(
          ({ name }) => name === "task_status",
        );
      expect([await listed(false), await listed(true)]).toEqual([without, withIt]);
    },
  );

  test("without them the handle names the command line, and there is no such tool", async () => {
    const host = await openHost("2025-11-25", { companions: "never" });
    const reported = textOf(await host.call("job"));
    expect(reported).toContain("`taskbridge tasks show ");
    expect(reported).not.toContain("task_status");
    expect((await host.call("task_status", { taskId: "x" })).error.message).toBe("Unknown tool: task_status");
  });

  test.each([...companions, "task_answer"])(
    "a tool of one's own cannot be called %s, unless there are none",
    async (name) => {
      const tools = [{ name, adapter: "fake", target: { run: "job" } }];
      const plainTools = [{ name, inputSchema: { type: "object" }, call: () => ({ content: [] }) }];
      const job = { name: "job", adapter: "fake", target: { run: "job" } };
      for (const [own, path] of [
        [{ tools: [job, ...tools] }, "tools[1].name"],
        [{ tools: [job], plainTools }, "plainTools[0].name"],
      ] as const) {
        await expect(start({ ...own, allowModelAnswers: true })).rejects.toMatchObject({
          code: "misconfigured",
          message: expect.stringContaining(`"${name}"`),
          data: { path },
        });
        const host = await joinHost("2026-07-28", await serve({ ...own, companions: "never" }));
        expect((await host.list()).map((tool) => tool.name)).toContain(name);
      }
    },
  );

  test("the setting is checked", async () => {
    await expect(start({ companions: "sometimes" as never })).rejects.toMatchObject({
      code: "misconfigured",
      data: { path: "companions" },
    });
  });

  test.each([
    ["task_status", {}],
    ["task_status", { taskId: 1 }],
    ["task_status", { taskId: "x", waitSeconds: -1 }],
    ["task_status", { taskId: "x", waitSeconds: 46 }],
    ["task_status", { taskId: "x", waitSeconds: "30" }],
    ["task_status", { taskId: "x", wait: 3 }],
    ["task_result", { taskId: "x", offset: -1 }],
    ["task_result", { taskId: "x", offset: 0.5 }],
    ["task_result", { taskId: "x", length: 0 }],
    ["task_result", { taskId: "x", length: 1e9 }],
    ["task_cancel", { taskId: null }],
  ])("%s refuses %j by name", async (name, args) => {
    const host = await openHost("2025-11-25");
    const answer = await host.call(name, args);
    expect(answer.result.isError).toBe(true);
    expect(textOf(answer)).toMatch(/^arguments: /);
  });
});

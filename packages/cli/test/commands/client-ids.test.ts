import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { asOwnerId, localOwner, type OwnerId } from "@taskbridge/core";
import { openConfig } from "../../src/config/open-config.ts";
import { openEngine } from "../../src/config/open-engine.ts";
import { createWorkbench, documentOf, type Workbench } from "../workbench.ts";

const alice = asOwnerId("alice");
const bob = asOwnerId("bob");

let bench: Workbench;
beforeAll(async () => {
  bench = createWorkbench();
  const { engine, close } = await openEngine(openConfig(bench.config));
  const create = async (tool: string, owner: OwnerId, taskId: string): Promise<void> => {
    await engine.createTask({ tool, input: { file: "never" }, owner, taskId });
  };
  await create("wait", localOwner, "mine-1");
  await create("wait", localOwner, "-rf");
  await create("wait", alice, "-x9");
  await create("ask", alice, "hers");
  await create("wait", alice, "both");
  await create("wait", bob, "both");
  await close();
});
afterAll(() => bench.dispose());

const tasks = (...args: string[]): string[] => ["tasks", ...args, "--config", bench.config];

const fullIds = async (publicId: string): Promise<string[]> => {
  const list = documentOf(await bench.run(tasks("list", "--json")))["tasks"] as { taskId: string }[];
  return list.map(({ taskId }) => taskId).filter((taskId) => taskId.endsWith(`~${publicId}`));
};

test("a task is shown under an ID that can be said again, and under the one that its client minted", async () => {
  const [taskId = ""] = await fullIds("mine-1");
  expect(taskId).toMatch(/^[0-9a-f]{32}~mine-1$/);
  for (const id of [taskId, "mine-1"]) {
    expect(documentOf(await bench.run(tasks("show", id, "--json")))).toMatchObject({ taskId, state: "running" });
    expect((await bench.run(tasks("explain", id))).stdout).toContain(`${taskId}, revision`);
  }
  expect((await bench.run(tasks("list"))).stdout).toContain(`${taskId} `);
});

test("its client's ID is enough to stop and to watch it", async () => {
  expect((await bench.run(tasks("cancel", "mine-1"))).code).toBe(0);
  const watched = await bench.run(tasks("watch", "mine-1", "--json"));
  expect(documentOf(watched)).toMatchObject({ state: "cancelled" });
});

describe("an ID of any owner", () => {
  test("is enough where only one has chosen it: to show, explain, answer and watch", async () => {
    const [taskId = ""] = await fullIds("hers");
    expect(documentOf(await bench.run(tasks("show", "hers", "--json")))).toMatchObject({ taskId });
    expect((await bench.run(tasks("explain", "hers"))).stdout).toContain(`${taskId}, revision`);
    const answered = await bench.run(tasks("answer", "hers", "--input", '{"ok":true}'));
    expect(answered).toMatchObject({ code: 0, stdout: expect.stringMatching(/^answered /) });
    const watched = documentOf(await bench.run(tasks("watch", "hers", "--json")));
    expect(watched).toMatchObject({ taskId, state: "succeeded" });
  });

  test("of several owners is not: the full ones are told, and nothing is done", async () => {
    const ids = await fullIds("both");
    expect(ids.length).toBe(2);
    for (const verb of ["show", "cancel", "explain"]) {
      const { code, stdout, stderr } = await bench.run(tasks(verb, "both"));
      expect([code, stdout]).toEqual([2, ""]);
      for (const id of ids) expect(stderr).toContain(`\n  ${id}`);
    }
    const [first = "", second = ""] = ids;
    expect((await bench.run(tasks("cancel", first))).code).toBe(0);
    expect(documentOf(await bench.run(tasks("show", second, "--json")))).toMatchObject({ state: "running" });
  });

  test("that nobody has is not found", async () => {
    expect(await bench.run(tasks("show", "nobodys"))).toMatchObject({ code: 1, stderr: "Task not found\n" });
    expect(await bench.run(tasks("show", "hers~"))).toMatchObject({ code: 1, stderr: "Task not found\n" });
  });
});

describe("an ID that begins with a dash", () => {
  test.each([
    ["right after the command", ["show", "-rf", "--json"]],
    ["after flags", ["show", "--json", "-rf"]],
    ["behind --", ["show", "--json", "--", "-rf"]],
    ["of another owner", ["show", "-x9", "--json"]],
  ])("is found %s", async (_name, [verb = "", ...args]) => {
    const outcome = await bench.run(["tasks", verb, "--config", bench.config, ...args]);
    expect(documentOf(outcome)).toMatchObject({ taskId: expect.stringMatching(/~-(rf|x9)$/), state: "running" });
  });

  test("and would be a flag has to stand behind --, and the error says so", async () => {
    const missing = await bench.run(["tasks", "show", "-c1"]);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("taskbridge tasks show -- ID\n") });
    expect(await bench.run(["tasks", "show", "--config", bench.config, "--", "-c1"])).toMatchObject({
      code: 1,
      stderr: "Task not found\n",
    });
  });

  test("is not what a mistyped flag is taken for", async () => {
    const outcome = await bench.run(tasks("show", "--jsno", "-rf"));
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining("unknown option '--jsno'") });
    expect((await bench.run(tasks("show", "mine-1", "-q"))).stderr).toContain("unknown option '-q'");
  });

  test("is pasted as it is told", async () => {
    const watching = bench.start(["tasks", "watch", "--config", bench.config, "--", "-rf"]);
    await watching.sees(/half way/);
    watching.kill("SIGINT");
    const { code, stderr } = await watching.done;
    const [, words = ""] = /\n {2}taskbridge (.*)\n$/.exec(stderr) ?? [];
    expect(code).toBe(130);
    expect((await bench.run(["tasks", "cancel", ...words.split(" ").slice(2)])).code).toBe(0);
    expect(documentOf(await bench.run([...words.split(" "), "--json"]))).toMatchObject({ state: "cancelled" });
  });
});

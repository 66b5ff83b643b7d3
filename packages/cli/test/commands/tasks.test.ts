import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { freePort } from "../free-port.ts";
import type { Running } from "../run-here.ts";
import { createWorkbench, documentOf, type Workbench } from "../workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
});
afterAll(() => bench.dispose());

const tasks = (...args: string[]): string[] => ["tasks", ...args, "--config", bench.config];

/** Calls the job that waits, through a server, and resolves as soon as it does. */
const startWaiting = async (url: string, file: string): Promise<{ taskId: string; calling: Running }> => {
  const calling = bench.start(["call", "wait", "--url", url, "--input", JSON.stringify({ file })]);
  await calling.sees(/half way/);
  const { tasks: listed } = documentOf(await bench.run(tasks("list", "--json"))) as { tasks: { taskId: string }[] };
  return { taskId: listed[0]?.taskId ?? "", calling };
};

describe("beside a running server", () => {
  let server: { readonly url: string };
  beforeAll(async () => {
    server = await bench.serveHere();
  });

  test("list, show and explain see its tasks", async () => {
    const { taskId } = await startWaiting(server.url, "seen");
    const [list, table, shown, explained] = await Promise.all([
      bench.run(tasks("list", "--json")),
      bench.run(tasks("list")),
      bench.run(tasks("show", taskId)),
      bench.run(tasks("explain", taskId)),
    ]);
    expect(documentOf(list)).toMatchObject({
      tasks: [{ taskId, tool: "wait", state: "running", progress: { done: 1, total: 2 } }],
    });
    expect(table.stdout).toMatch(new RegExp(`^TASK .*\n${taskId} +wait +running +\\S+ +1/2 half way\n$`));
    expect(shown.stdout).toMatch(/state +running\nprogress +1\/2 half way\n/);
    expect(explained.stdout).toMatch(/owner +local\n/);
    expect([list.code, table.code, shown.code, explained.code]).toEqual([0, 0, 0, 0]);
    bench.release("seen");
    const watched = await bench.run(tasks("watch", taskId));
    expect(watched).toMatchObject({ code: 0, stdout: '{\n  "waited": true\n}\n' });
  });

  test("answer writes to the store and the server's caller gets the result", async () => {
    const calling = bench.start(["call", "ask", "--url", server.url, "--json"]);
    const [, taskId = ""] = await calling.sees(/tasks answer (\S+)/);
    const wrong = await bench.run(tasks("answer", taskId, "--input", '{"ok":"perhaps"}'));
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toContain("ok: must be boolean");
    const shown = documentOf(await bench.run(tasks("show", taskId, "--json")));
    expect(shown).toMatchObject({ state: "waiting", questions: [{ message: "Delete 14 files?" }] });
    const [{ key }] = shown["questions"] as [{ key: string }];

    const answered = await bench.run(tasks("answer", taskId, "--key", key, "--input", '{"ok":false}'));
    expect(answered).toMatchObject({ code: 0, stdout: `answered ${key}\n` });
    expect(documentOf(await calling.done)["result"]).toMatchObject({
      answer: { action: "accept", content: { ok: false } },
    });
    const late = await bench.run(tasks("answer", taskId, "--action", "decline"));
    expect(late).toMatchObject({ code: 1, stderr: "the task asks nothing\n" });
  });

  test("cancel stops the job", async () => {
    const { taskId, calling } = await startWaiting(server.url, "never");
    expect((await bench.run(tasks("cancel", taskId))).code).toBe(0);
    const watched = await bench.run(tasks("watch", taskId, "--json"));
    expect(watched.code).toBe(1);
    expect(documentOf(watched)).toMatchObject({ state: "cancelled" });
    expect(await calling.done).toMatchObject({ code: 1, stdout: "" });
    const again = await bench.run(tasks("cancel", taskId));
    expect(again).toMatchObject({ code: 1, stderr: "the task has ended already: cancelled\n" });
  });

  test("show of a failed task tells why", async () => {
    await bench.run(["call", "fail", "--config", bench.config]);
    const [task] = documentOf(await bench.run(tasks("list", "--json")))["tasks"] as [{ taskId: string; tool: string }];
    expect(task.tool).toBe("fail");
    const shown = await bench.run(tasks("show", task.taskId));
    expect(shown.stdout).toMatch(/failure +exit code 3: the disk is full/);
  });

  test("an unknown ID, here and over the wire", async () => {
    const [here, there] = await Promise.all([
      bench.run(tasks("show", "nowhere")),
      bench.run(["tasks", "show", "nowhere", "--url", server.url]),
    ]);
    expect(here).toMatchObject({ code: 1, stdout: "", stderr: "Task not found\n" });
    expect(there).toMatchObject({ code: 1, stdout: "", stderr: "Task not found (-32602)\n" });
  });

  test("list --url: exit code 2, because the wire cannot list", async () => {
    const outcome = await bench.run(["tasks", "list", "--url", server.url]);
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
    expect(outcome.stderr).toContain("2026-07-28 over --url cannot list tasks");
  });
});

describe("without a server", () => {
  test("answer carries the answer out before it ends", async () => {
    const calling = bench.spawn(["call", "ask", "--config", bench.config]);
    const [, taskId = ""] = await calling.sees(/tasks answer (\S+)/);
    calling.kill("SIGKILL");
    await calling.done;
    expect((await bench.run(tasks("answer", taskId, "--action", "decline"))).code).toBe(0);
    const watched = await bench.run(tasks("watch", taskId, "--json"));
    expect(documentOf(watched)).toMatchObject({ state: "succeeded", result: { answer: { action: "decline" } } });
  });

  test("cancel is carried out before it ends", async () => {
    const calling = bench.start(["call", "wait", "--config", bench.config, "--input", '{"file":"never"}']);
    await calling.sees(/half way/);
    calling.kill("SIGINT");
    const [, taskId = ""] = /tasks watch (\S+)/.exec((await calling.done).stderr) ?? [];
    expect((await bench.run(tasks("cancel", taskId))).code).toBe(0);
    expect(documentOf(await bench.run(tasks("watch", taskId, "--json")))).toMatchObject({ state: "cancelled" });
  });
});

describe("a server that is killed", () => {
  test("the task goes on, the next server knows it, and a caller never noticed but for a pause", async () => {
    const port = await freePort();
    const first = await bench.serve(["--port", port]);
    const { taskId, calling } = await startWaiting(first.url, "after");
    first.kill("SIGKILL");
    await first.done;
    await calling.sees(/trying again/);
    const alone = documentOf(await bench.run(tasks("show", taskId, "--json")));
    expect(alone).toMatchObject({ taskId, state: "running", progress: { done: 1, total: 2 } });

    await bench.serveHere(["--port", port]);
    bench.release("after");
    expect(await calling.done).toMatchObject({ code: 0, stdout: '{\n  "waited": true\n}\n' });
    const shown = await bench.run(tasks("show", taskId));
    expect(shown.stdout).toMatch(/state +succeeded\n[\s\S]*result +\{\n +"waited": true/);
  });
});

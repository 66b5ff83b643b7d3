import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { rpcClient } from "../rpc-client.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { accepted, askedBy, form, options, question } from "./asked-by.ts";
import { openHost, textOf } from "./hosts.ts";

afterEach(stopAll);

describe("[D-9] the state of such a question", () => {
  const tools = ["job", "other"].map((name) => ({ name, adapter: "fake", target: { run: name } }));
  const auth = {
    authenticate: async (headers: Readonly<Record<string, string | undefined>>) => ({
      identity: { issuer: "test", subject: headers["x-user"] ?? "nobody" },
    }),
  };
  const as = (user: string) => ({ tasks: false, capabilities: form, headers: { "x-user": user } });

  test("is good for its owner, tool and arguments, on any replica with the key, and starts nothing", async () => {
    const shared = { ...options, tools, auth, stateKey: "k".repeat(32), store: memoryStore() };
    const one = await serve(shared);
    const { key, requestState } = askedBy(await one.rpc("tools/call", { name: "job", arguments: { a: 1 } }, as("ada")));
    const good = { name: "job", arguments: { a: 1 }, inputResponses: { [key]: accepted }, requestState };
    for (const [params, user] of [
      [{ ...good, requestState: `${requestState}x` }, "ada"],
      [{ ...good, requestState: "" }, "ada"],
      [{ ...good, name: "other" }, "ada"],
      [{ ...good, name: "task_status", arguments: { taskId: "x" } }, "ada"],
      [{ ...good, arguments: { a: 2 } }, "ada"],
      [good, "eve"],
    ] as const) {
      const { error } = await one.rpc("tools/call", params, as(user));
      expect([error.code, error.message, error.data]).toEqual([
        -32_602,
        "Invalid or expired requestState",
        { reason: "invalid_request_state" },
      ]);
    }
    expect([one.backend.starts(), one.backend.of().answers]).toEqual([1, []]);
    const ended = await inTime(one.rpc("tools/call", good, as("ada")));
    expect(textOf(ended)).toContain('"ok":true');
  });

  test("of before a restart with another key is refused clearly, and the task goes on", async () => {
    const store = memoryStore();
    const one = await serve({ ...options, tools, store, stateKey: "1".repeat(32) });
    const { key, requestState } = askedBy(
      await one.rpc("tools/call", { name: "job" }, { tasks: false, capabilities: form }),
    );
    const two = await serve({ ...options, tools, store, stateKey: "2".repeat(32) });
    const host = rpcClient(two.url);
    const noTasks = { tasks: false, capabilities: form };
    const { error } = await host(
      "tools/call",
      { name: "job", inputResponses: { [key]: accepted }, requestState },
      noTasks,
    );
    expect(error).toMatchObject({ code: -32_602, message: "Invalid or expired requestState" });
    expect(two.backend.starts()).toBe(0);
    const reported = textOf(await host("tools/call", { name: "task_status", arguments: { taskId: "?" } }, noTasks));
    expect(reported).toMatch(/Your open tasks:\n- \w+ of job: waits for an answer/);
  });

  test("is good for a day, since a person takes time", async () => {
    const host = await openHost("2026-07-28", { ...options, capabilities: form });
    const began = Date.now();
    const { key, requestState } = askedBy(await host.call("job"));
    const now = jest.spyOn(Date, "now").mockReturnValue(began + 23 * 3_600_000);
    try {
      const ended = await host.call("job", {}, { inputResponses: { [key]: accepted }, requestState });
      expect(textOf(ended)).toContain('"ok":true');
    } finally {
      now.mockRestore();
    }
    expect(host.backend.starts()).toBe(1);
  });

  test("of a task that has gone lists the tasks that there are", async () => {
    const { rpc, server } = await serve({ ...options, tools });
    const noTasks = { tasks: false, capabilities: form };
    const { key, requestState } = askedBy(await rpc("tools/call", { name: "job" }, noTasks));
    const { tasks } = await server.engine.listTasks({ operator: true }, {}, undefined, 1);
    await server.engine.deleteTask(tasks[0]?.record.taskId, { operator: true });
    const answer = await rpc("tools/call", { name: "job", inputResponses: { [key]: accepted }, requestState }, noTasks);
    expect(answer.result.isError).toBe(true);
    expect(textOf(answer)).toMatch(/^Task not found: "\w+"\./);
  });

  test("of a call that is given up while it waits again stops the task, whose ID its host never had", async () => {
    const { rpc, backend } = await serve({ ...options, tools, fake: { onStart: (run) => run.ask(question) } });
    const noTasks = { tasks: false, capabilities: form };
    const { key, requestState } = askedBy(await rpc("tools/call", { name: "job" }, noTasks));
    const leaving = new AbortController();
    const params = { name: "job", inputResponses: { [key]: accepted }, requestState };
    const calling = rpc("tools/call", params, { ...noTasks, signal: leaving.signal });
    await eventually(() => backend.of().answers.length === 1);
    leaving.abort();
    await expect(calling).rejects.toThrow();
    await eventually(() => backend.of().cancels.length === 1);
  });
});

import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { memoryStore } from "@taskbridge/core/memory";
import { fetchHere } from "../fetch-here.ts";
import { yes } from "../legacy/task-calls.ts";
import { rpcClient } from "../rpc-client.ts";
import { eventually, inTime, type ServeOptions, serve, stopAll } from "../serve.ts";
import { handleOf, openHost, textOf } from "./hosts.ts";

afterEach(stopAll);

const question = { message: "Delete 14 files?", schema: yes };
const accepted = { action: "accept", content: { ok: true } };
const options: ServeOptions = {
  waitMs: 10_000,
  fake: {
    onStart: (run) => run.ask(question),
    onAnswer: (run, { action, content }) => queueMicrotask(() => run.succeed({ action, content: content ?? null })),
  },
};
const form = { elicitation: { form: {} } };

interface Asked {
  readonly inputRequests: Readonly<Record<string, { readonly params: { readonly message: string } }>>;
  readonly requestState: string;
}

const askedBy = ({ result }: { readonly result: Record<string, unknown> }): Asked & { readonly key: string } => {
  expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
  const asked = result as unknown as Asked;
  return { ...asked, key: Object.keys(asked.inputRequests)[0] ?? "" };
};

describe("[D-9] a question of a task, for a caller of 2026-07-28 without the extension", () => {
  test("is the answer of the call, and the repeated call goes on with the same task", async () => {
    const host = await openHost("2026-07-28", { ...options, capabilities: form });
    const { key, inputRequests, requestState } = askedBy(await inTime(host.call("job", { a: 1, b: 2 })));
    expect(inputRequests).toEqual({
      [key]: {
        method: "elicitation/create",
        params: { mode: "form", message: "Delete 14 files?", requestedSchema: yes },
      },
    });
    const ended = await inTime(host.call("job", { b: 2, a: 1 }, { inputResponses: { [key]: accepted }, requestState }));
    expect(ended.result).toMatchObject({ resultType: "complete", isError: false });
    expect(textOf(ended)).toBe('{"action":"accept","content":{"ok":true}}');
    expect(host.backend.starts()).toBe(1);
    expect(host.backend.of().answers).toMatchObject([{ deliveries: 1 }]);
  });

  test("is the answer of task_status as well", async () => {
    const host = await openHost("2026-07-28", {
      ...options,
      waitMs: 0,
      fake: { ...options.fake, onStart: () => {} },
      capabilities: form,
    });
    const taskId = handleOf(await host.call("job"));
    host.backend.of().ask(question);
    await host.backend.events.settled();
    const args = { taskId, waitSeconds: 20 };
    const { key, requestState } = askedBy(await inTime(host.call("task_status", args)));
    const ended = await inTime(host.call("task_status", args, { inputResponses: { [key]: accepted }, requestState }));
    expect(textOf(ended)).toContain(`Task ${taskId} of job has completed.`);
    expect(host.backend.starts()).toBe(1);
  });

  test("reaches the user of the SDK's client", async () => {
    const { url, backend } = await serve(options);
    const client = new Client(
      { name: "host", version: "1" },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
    );
    let asked = 0;
    client.setRequestHandler("elicitation/create", () => {
      asked++;
      return accepted as never;
    });
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: fetchHere }));
      const result = await inTime(client.callTool({ name: "job", arguments: {} }));
      expect(textOf({ result } as never)).toContain('{"ok":true}');
      expect([asked, backend.starts()]).toEqual([1, 1]);
    } finally {
      await client.close();
    }
  });

  test("and the next one: each is asked in its turn", async () => {
    const host = await openHost("2026-07-28", {
      ...options,
      capabilities: form,
      fake: {
        onStart: (run) => run.ask({ ...question, name: "one" }),
        onAnswer: (run) =>
          queueMicrotask(() =>
            run.answers.length === 1 ? run.ask({ name: "two", message: "Sure?" }) : run.succeed("done"),
          ),
      },
    });
    const first = askedBy(await inTime(host.call("job")));
    const params = { inputResponses: { [first.key]: accepted }, requestState: first.requestState };
    const second = askedBy(await inTime(host.call("job", {}, params)));
    expect(second.inputRequests[second.key]?.params.message).toBe("Sure?");
    const ended = await inTime(
      host.call(
        "job",
        {},
        { inputResponses: { [second.key]: { action: "accept" } }, requestState: second.requestState },
      ),
    );
    expect(textOf(ended)).toBe('"done"');
    // Its answer was taken; the state of then changes nothing more.
    expect(textOf(await inTime(host.call("job", {}, params)))).toBe('"done"');
    expect([host.backend.starts(), host.backend.of().answers.length]).toEqual([1, 2]);
  });

  test("that is declined is declined, and one that is dismissed is not put again in the same call", async () => {
    const host = await openHost("2026-07-28", { ...options, waitMs: 50, capabilities: form });
    const first = askedBy(await host.call("job"));
    const dismissed = await host.call(
      "job",
      {},
      { inputResponses: { [first.key]: { action: "cancel" } }, requestState: first.requestState },
    );
    const taskId = handleOf(dismissed);
    expect(textOf(dismissed)).toContain(
      'waits for the user, who was asked "Delete 14 files?" and has not answered. Do not answer for them. To have them asked again, call task_status',
    );
    const again = askedBy(await host.call("task_status", { taskId, waitSeconds: 5 }));
    const declined = await inTime(
      host.call(
        "task_status",
        { taskId, waitSeconds: 5 },
        { inputResponses: { [again.key]: { action: "decline" } }, requestState: again.requestState },
      ),
    );
    expect(textOf(declined)).toContain('"action":"decline"');
    expect(host.backend.starts()).toBe(1);
  });

  test("that was not answered is asked again; what does not fit is refused by name, and it stays open", async () => {
    const host = await openHost("2026-07-28", { ...options, capabilities: form });
    const { key, requestState } = askedBy(await host.call("job"));
    for (const inputResponses of [undefined, {}, { other: accepted }]) {
      askedBy(await host.call("job", {}, { inputResponses, requestState }));
    }
    const { error } = await host.call(
      "job",
      {},
      { inputResponses: { [key]: { action: "accept", content: { ok: "perhaps" } } }, requestState },
    );
    expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining(`inputResponses.${key}.content`) });
    const ended = await inTime(host.call("job", {}, { inputResponses: { [key]: accepted }, requestState }));
    expect(textOf(ended)).toContain('"ok":true');
    expect(host.backend.starts()).toBe(1);
  });

  test("of a page to visit ends when its backend has noticed, and the page is opened once for a call", async () => {
    const host = await openHost("2026-07-28", {
      ...options,
      capabilities: { elicitation: { url: {} } },
      fake: { onStart: (run) => run.ask({ message: "Sign", url: "https://sign.example/1" }) },
    });
    const { key, inputRequests, requestState } = askedBy(await host.call("job"));
    expect(inputRequests[key]?.params).toEqual({ mode: "url", message: "Sign", url: "https://sign.example/1" });
    const waiting = host.call("job", {}, { inputResponses: { [key]: { action: "accept" } }, requestState });
    await host.backend.events.settled();
    host.backend.of().withdraw();
    host.backend.of().succeed("signed");
    expect(textOf(await inTime(waiting))).toBe('"signed"');
  });

  test("goes to nobody who declared no elicitation, and says where a person answers it", async () => {
    const host = await openHost("2026-07-28", options);
    const given = await inTime(host.call("job"));
    expect(textOf(given)).toMatch(/waits for an answer by a person: "Delete 14 files\?"\. .*taskbridge tasks answer/);
  });

  test("before the task and of the task follow each other in one call", async () => {
    const host = await openHost("2026-07-28", {
      ...options,
      capabilities: form,
      tools: [
        {
          name: "job",
          adapter: "fake",
          target: { run: "job" },
          prepare: (input, answers) =>
            answers["sure"] === undefined ? { questions: { sure: { message: "Sure?" } } } : { input },
        },
      ],
    });
    const before = askedBy(await host.call("job"));
    expect([before.key, host.backend.starts()]).toEqual(["sure", 0]);
    const of = askedBy(
      await host.call("job", {}, { inputResponses: { sure: { action: "accept" } }, requestState: before.requestState }),
    );
    expect(of.inputRequests[of.key]?.params.message).toBe("Delete 14 files?");
    const ended = await inTime(
      host.call("job", {}, { inputResponses: { [of.key]: accepted }, requestState: of.requestState }),
    );
    expect(textOf(ended)).toContain('"ok":true');
    expect(host.backend.starts()).toBe(1);
  });
});

describe("[D-9] the state of such a question", () => {
  const tools = ["job", "other"].map((name) => ({ name, adapter: "fake", target: { run: name } }));
  const auth = {
    authenticate: async (headers: Readonly<Record<string, string | undefined>>) => ({
      identity: { issuer: "test", subject: headers["x-user"] ?? "nobody" },
    }),
  };
  const as = (user: string) => ({ tasks: false, capabilities: form, headers: { "x-user": user } });

  test("is good for its owner, tool and arguments, on any replica with the key, and starts nothing", async () => {
    const shared = { ...options, tools, auth, requestStateKey: "k".repeat(32), store: memoryStore() };
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
    const one = await serve({ ...options, tools, store, requestStateKey: "1".repeat(32) });
    const { key, requestState } = askedBy(
      await one.rpc("tools/call", { name: "job" }, { tasks: false, capabilities: form }),
    );
    const two = await serve({ ...options, tools, store, requestStateKey: "2".repeat(32) });
    const host = rpcClient(two.url);
    const untasked = { tasks: false, capabilities: form };
    const { error } = await host(
      "tools/call",
      { name: "job", inputResponses: { [key]: accepted }, requestState },
      untasked,
    );
    expect(error).toMatchObject({ code: -32_602, message: "Invalid or expired requestState" });
    expect(two.backend.starts()).toBe(0);
    const told = textOf(await host("tools/call", { name: "task_status", arguments: { taskId: "?" } }, untasked));
    expect(told).toMatch(/Your open tasks:\n- \w+ of job: waits for an answer/);
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
    const untasked = { tasks: false, capabilities: form };
    const { key, requestState } = askedBy(await rpc("tools/call", { name: "job" }, untasked));
    const { tasks } = await server.engine.listTasks({ operator: true }, {}, undefined, 1);
    await server.engine.deleteTask(tasks[0]?.record.taskId, { operator: true });
    const answer = await rpc(
      "tools/call",
      { name: "job", inputResponses: { [key]: accepted }, requestState },
      untasked,
    );
    expect(answer.result.isError).toBe(true);
    expect(textOf(answer)).toMatch(/^Task not found: "\w+"\./);
  });

  test("of a call that is given up while it waits again stops the task, whose ID its host never had", async () => {
    const { rpc, backend } = await serve({ ...options, tools, fake: { onStart: (run) => run.ask(question) } });
    const untasked = { tasks: false, capabilities: form };
    const { key, requestState } = askedBy(await rpc("tools/call", { name: "job" }, untasked));
    const leaving = new AbortController();
    const params = { name: "job", inputResponses: { [key]: accepted }, requestState };
    const calling = rpc("tools/call", params, { ...untasked, signal: leaving.signal });
    await eventually(() => backend.of().answers.length === 1);
    leaving.abort();
    await expect(calling).rejects.toThrow();
    await eventually(() => backend.of().cancels.length === 1);
  });
});

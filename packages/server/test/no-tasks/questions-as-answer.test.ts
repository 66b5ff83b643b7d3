import { afterEach, describe, expect, test } from "@jest/globals";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { fetchHere } from "../fetch-here.ts";
import { yes } from "../rev-2025/task-calls.ts";
import { inTime, serve, stopAll } from "../serve.ts";
import { accepted, askedBy, form, options, question } from "./asked-by.ts";
import { handleOf, openHost, textOf } from "./hosts.ts";

afterEach(stopAll);

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

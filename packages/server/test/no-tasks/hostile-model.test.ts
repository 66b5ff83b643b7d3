import { afterEach, describe, expect, test } from "@jest/globals";
import { form, yes } from "../rev-2025/task-calls.ts";
import { rpc2025 } from "../rpc-2025.ts";
import { inTime, type ServeOptions, stopAll } from "../serve.ts";
import { eras, type Host, handleOf, openHost, textOf } from "./hosts.ts";

afterEach(stopAll);

const question = { message: "Delete 14 files?", schema: yes };
const options: ServeOptions = { waitMs: 20_000, fake: { onStart: (run) => run.ask(question) } };
const approval = { action: "accept", content: { ok: true } };

/** The key is no secret: it may be guessed. */
const keyOf = async ({ server }: Host): Promise<string> => {
  const { tasks } = await server.engine.listTasks({ operator: true }, {}, undefined, 1);
  return tasks[0]?.record.questions.find(({ state }) => state === "open")?.key ?? "";
};

describe.each(eras)("[D-10] a model that wants to approve what a person is asked, in a host of %s", (era) => {
  test("cannot: whatever tools it calls and whatever it puts into their arguments", async () => {
    const host = await openHost(era, options);
    const taskId = handleOf(await inTime(host.call("job")));
    const key = await keyOf(host);
    const inputResponses = { [key]: approval };
    const forged = `v1.${Buffer.from(JSON.stringify({ tool: "job", taskId, keys: [key] })).toString("base64url")}.x`;
    const own = { taskId, key, ...approval };
    for (const [name, args] of [
      ["task_answer", own],
      ["task_update", { taskId, inputResponses }],
      ["tasks/update", { taskId, inputResponses }],
      ["elicitation/create", own],
      ["task_status", { ...own }],
      ["task_status", { taskId, inputResponses, requestState: forged }],
      ["task_result", own],
      ["task_cancel", { taskId, action: "accept" }],
      ["job", { inputResponses, requestState: forged, _meta: { inputResponses } }],
    ] as const) {
      await inTime(host.call(name, args));
    }
    expect(host.backend.executions.flatMap(({ answers, cancels }) => [...answers, ...cancels])).toEqual([]);
    expect(textOf(await host.call("task_status", { taskId }))).toContain("waits for an answer by a person");
  });

  test("cannot by a host that hands its responses on, since it was never asked", async () => {
    const host = await openHost(era, options);
    const taskId = handleOf(await inTime(host.call("job")));
    const key = await keyOf(host);
    const inputResponses = { [key]: approval };
    for (const requestState of [undefined, "", "{}", `v1.e30.${"0".repeat(43)}`]) {
      const more = { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
      await inTime(host.call("job", {}, more));
      await inTime(host.call("task_status", { taskId }, more));
    }
    expect(host.backend.executions.flatMap(({ answers }) => answers)).toEqual([]);
  });

  test("is never shown how a question would be answered by a tool", async () => {
    const host = await openHost(era, options);
    const reported = JSON.stringify((await inTime(host.call("job"))).result);
    expect(reported).toContain("Delete 14 files?");
    expect(reported).not.toMatch(/task_answer|inputResponses|requestState/);
    expect((await host.list()).map(({ name }) => name)).not.toContain("task_answer");
  });
});

describe("[D-10] a model of a host that can ask its user", () => {
  test("cannot answer beside the dialog", async () => {
    const host = await openHost("2025-11-25", { ...options, waitMs: 50, capabilities: form });
    const taskId = handleOf(await inTime(host.call("job")));
    const key = await keyOf(host);
    for (const name of ["task_answer", "task_status"]) await host.call(name, { taskId, key, ...approval });
    const session = await rpc2025(host.url);
    // An answer to a request that was never sent.
    await session.send({ id: 0, result: approval });
    await session.send({ id: "1", result: approval });
    await host.backend.events.settled();
    expect(host.backend.of().answers).toEqual([]);
  });
});

describe.each(eras)("[D-10] where models may answer, in a host of %s", (era) => {
  const answering: ServeOptions = {
    ...options,
    allowModelAnswers: true,
    fake: {
      ...options.fake,
      onAnswer: (run, { action, content }) => queueMicrotask(() => run.succeed({ action, content: content ?? null })),
    },
  };

  test("task_answer is listed, and the handle says how it is called", async () => {
    const host = await openHost(era, answering);
    expect((await host.list()).map(({ name }) => name)).toEqual([
      "job",
      "task_status",
      "task_result",
      "task_cancel",
      "task_answer",
    ]);
    const given = await inTime(host.call("job"));
    const [taskId, key] = [handleOf(given), await keyOf(host)];
    expect(textOf(given)).toBe(
      `Task ${taskId} of job waits for an answer: "Delete 14 files?". Ask the user, then call task_answer with taskId ${taskId}, an action and, with accept, content: key ${key}, content that fits ${JSON.stringify(yes)}.`,
    );
    const answered = await inTime(host.call("task_answer", { taskId, ...approval }));
    expect(answered.result.isError).toBe(false);
    const ended = await inTime(host.call("task_status", { taskId, waitSeconds: 5 }));
    expect(textOf(ended)).toContain('{"action":"accept","content":{"ok":true}}');
  });

  test("an answer that does not fit, or to nothing that is asked, is refused by name", async () => {
    const host = await openHost(era, answering);
    const taskId = handleOf(await inTime(host.call("job")));
    const key = await keyOf(host);
    for (const [args, text] of [
      [{ action: "accept", content: { ok: "perhaps" } }, /content/],
      [{ action: "accept" }, /content/],
      [{ action: "perhaps" }, /^arguments: /],
      [{}, /^arguments: /],
      [{ ...approval, key: "q99" }, new RegExp(`^key: no such open question\\. Open questions: ${key}\\.$`)],
    ] as const) {
      const answer = await inTime(host.call("task_answer", { taskId, ...args }));
      expect(answer.result.isError).toBe(true);
      expect(textOf(answer)).toMatch(text);
    }
    expect(host.backend.of().answers).toEqual([]);
    expect(textOf(await host.call("task_answer", { taskId: "x", ...approval }))).toMatch(/^Task not found: "x"/);
  });

  test.each([
    ["a secret", { schema: { type: "object", properties: { token: { type: "string", format: "password" } } } }],
    ["a page", { url: "https://sign.example/1" }],
  ])("%s is still a person's", async (_what, asked) => {
    const host = await openHost(era, {
      ...answering,
      fake: { ...answering.fake, onStart: (run) => run.ask({ message: "Please", ...asked }) },
    });
    const given = await inTime(host.call("job"));
    expect(textOf(given)).not.toContain("task_answer");
    const key = await keyOf(host);
    const answer = await host.call("task_answer", { taskId: handleOf(given), key, action: "accept", content: {} });
    expect(answer.result.isError).toBe(true);
    expect(host.backend.of().answers).toEqual([]);
  });
});

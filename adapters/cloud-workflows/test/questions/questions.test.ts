import { describe, expect, test } from "@jest/globals";
import { callContext } from "../call-context.ts";
import { awaitCallback, parallel, type Script, step } from "../fake/script.ts";
import { openedAdapter } from "../opened-adapter.ts";
import { answer, approval, codeOf, onlyQuestion, questionsOf } from "./asking.ts";

const detailed = { executionHistoryLevel: "EXECUTION_HISTORY_DETAILED" } as const;

describe("an execution that waits for a callback", () => {
  test("is a question, and its answer is what the workflow reads (case 21)", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    const { status, questions } = await on.see(ref, "detail");
    expect(status).toBe("waiting");
    const [question] = questions ?? [];
    expect(question).toMatchObject({
      id: expect.stringMatching(/^gcw:[\w-]+:\d+$/),
      message: "wait for approval waits for an answer",
      schema: { type: "object" },
    });
    if (question === undefined) return;
    await answer(on, ref, question, { content: { approved: true, by: "Ada" } });
    on.clock.advance(1_000);
    const end = await on.see(ref, "detail");
    expect(end.status).toBe("succeeded");
    expect(JSON.stringify(end.output)).toContain('"by":"Ada"');
  });

  test("tells its callback to nobody but the store, and its address not even there", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    const question = await onlyQuestion(on, ref);
    const callbackId = on.fake.callbackUrl(ref, "wait_for_approval").split("/").at(-1);
    expect(JSON.parse(question.secret ?? "")).toEqual({ callbackId, method: "POST", declinable: false, entryId: "1" });
    expect(JSON.stringify(question)).not.toMatch(/https?:|callbacks?\//);
  });

  test("says nothing of questions to who asks for its status", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    expect(await on.see(ref, "status")).not.toHaveProperty("questions");
    expect(on.fake.journal.count("listCallbacks").asked).toBe(0);
  });

  test("asks what the configuration says for the step", async () => {
    const schema = { type: "object", properties: { ok: { type: "boolean" } } } as const;
    const questions = { publish: { wait_for_approval: { message: "Publish it?", schema, declinable: true } } };
    const on = await openedAdapter({ questions });
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    const question = await onlyQuestion(on, ref);
    expect(question).toMatchObject({ message: "Publish it?", schema });
    await answer(on, ref, question, { action: "decline", content: undefined as never });
    on.clock.advance(1_000);
    expect(JSON.stringify((await on.see(ref)).output)).toContain('"action":"decline"');
  });

  test("asks what its variable mcp says, where the history is detailed, and never its address", async () => {
    const on = await openedAdapter();
    const variables = {
      mcp: {
        step: "ask",
        message: "Publish? Or POST https://x.test/v1/projects/p/locations/l/workflows/w/executions/e/callbacks/c now",
        requestedSchema: { type: "object", properties: { as: { type: "string" } } },
      },
    };
    on.fake.workflow("publish", { steps: [awaitCallback("ask", { variables })] }, detailed);
    const ref = await on.start("publish");
    expect(await onlyQuestion(on, ref)).toMatchObject({
      message: "Publish? Or POST [callback] now",
      schema: variables.mcp.requestedSchema,
    });
  });

  test("has nothing to fill in where the callback's method has no body", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", { steps: [awaitCallback("ask", { method: "GET" })] });
    const ref = await on.start("publish");
    const question = await onlyQuestion(on, ref);
    expect(question).not.toHaveProperty("schema");
    await answer(on, ref, question);
    on.clock.advance(1_000);
    expect((await on.see(ref)).status).toBe("succeeded");
  });

  test("refuses nothing that the workflow would take for an answer", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    const question = await onlyQuestion(on, ref);
    for (const action of ["decline", "cancel"] as const)
      expect(await codeOf(answer(on, ref, question, { action }))).toBe("unsupported");
    expect((await onlyQuestion(on, ref)).id).toBe(question.id);
  });
});

describe("several questions at once", () => {
  const branches: Script = {
    steps: [parallel("both", { one: [awaitCallback("approve_text")], two: [awaitCallback("approve_picture")] })],
  };

  test("say that they cannot be told apart, until they can", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", branches);
    const ref = await on.start("publish");
    const [one, two] = await questionsOf(on, ref);
    expect(one?.message).toMatch(/^publish waits for answer 1 of 2 \(now at: .*approve_.*\)\. Google does not tell/);
    expect(two?.message).toContain("answer 2 of 2");
    expect(one?.id).toMatch(/:unmatched:\d+$/);
    if (one === undefined || two === undefined) return;
    await answer(on, ref, one);
    on.clock.advance(1_000);
    const left = await onlyQuestion(on, ref);
    // Under an ID of its own, so that it is asked anew.
    expect(left.id).not.toBe(two.id);
    expect(left.message).toMatch(/^approve (text|picture) waits for an answer$/);
  });

  test("are not mistaken for a step that merely runs beside them", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", {
      steps: [parallel("both", { one: [awaitCallback("approve")], two: [step("upload", 60_000)] })],
    });
    const ref = await on.start("publish");
    expect((await onlyQuestion(on, ref)).message).toContain("Google does not tell which step it is for");
    on.clock.advance(61_000);
    expect((await onlyQuestion(on, ref)).message).toBe("approve waits for an answer");
  });

  test("are not asked anew for being answered while they are looked at", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", { steps: [awaitCallback("one"), awaitCallback("two")] });
    const ref = await on.start("publish");
    const question = await onlyQuestion(on, ref);
    // The answer comes once the callbacks have been listed, and before the steps are.
    let lists = 0;
    on.fake.setFaults({ on: { listCallbacks: () => (++lists === 1 ? { kind: "delay", ms: 500 } : undefined) } });
    const inspected = on.see(ref, "detail");
    while (lists === 0) await new Promise((resolve) => setImmediate(resolve));
    await answer(on, ref, question);
    on.clock.advance(1_000);
    expect((await inspected).questions).toEqual([]);
    expect((await onlyQuestion(on, ref)).message).toBe("two waits for an answer");
  });

  test("are matched by the names that are configured", async () => {
    const on = await openedAdapter({ questions: { publish: { approve: { message: "Publish?" } } } });
    on.fake.workflow("publish", {
      steps: [parallel("both", { one: [awaitCallback("approve")], two: [step("upload", 60_000)] })],
    });
    expect((await onlyQuestion(on, await on.start("publish"))).message).toBe("Publish?");
  });
});

describe("a callback that is awaited again", () => {
  const twice: Script = {
    steps: [
      awaitCallback("approve_draft", { callback: "cb", timeoutMs: 60_000, isCaught: true }),
      awaitCallback("delete_everything", { callback: "cb" }),
    ],
  };

  test("is another question, and the first one's answer does not reach it", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", twice);
    const ref = await on.start("publish");
    const first = await onlyQuestion(on, ref);
    on.clock.advance(61_000);
    expect(await codeOf(answer(on, ref, first))).toBe("conflict");
    const second = await onlyQuestion(on, ref);
    expect([first.message, second.message]).toEqual([
      "approve draft waits for an answer",
      "delete everything waits for an answer",
    ]);
    expect(second.id).not.toBe(first.id);
    expect(on.fake.journal.count("sendHttpCallback").asked).toBe(0);
    await answer(on, ref, second);
    on.clock.advance(1_000);
    expect((await on.see(ref)).status).toBe("succeeded");
  });

  test("is not answered where it cannot be told any more who waits", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", twice);
    const ref = await on.start("publish");
    const question = await onlyQuestion(on, ref);
    on.fake.setFaults({ denies: ["workflows.stepEntries.list"] });
    expect(await codeOf(answer(on, ref, question))).toBe("conflict");
    on.fake.setFaults({ on: { listStepEntries: { kind: "error", code: "UNAVAILABLE" } } });
    expect(await codeOf(answer(on, ref, question))).toBe("unavailable");
    expect(on.fake.journal.count("sendHttpCallback").asked).toBe(0);
  });

  test("keeps its question while other branches move", async () => {
    const on = await openedAdapter();
    const moves = Array.from({ length: 10 }, (_, index) => [
      step(`call_${index}`, 2_000),
      step(`assign_${index}`, 2_000, { type: "STEP_ASSIGN" }),
    ]).flat();
    on.fake.workflow("publish", { steps: [parallel("both", { one: [awaitCallback("approve")], two: moves })] });
    const ref = await on.start("publish");
    const ids = new Set<string>();
    for (let inspection = 0; inspection < 10; inspection++) {
      ids.add((await onlyQuestion(on, ref)).id.replace(/^gcw:[\w-]+:/, ""));
      on.clock.advance(2_000);
    }
    // Once it has been seen alone, it is known for as long as it waits.
    expect([...ids]).toEqual([expect.stringMatching(/^unmatched:\d+$/), expect.stringMatching(/^\d+$/)]);
  });
});

test("what a caller or an earlier step has put into mcp is not asked", async () => {
  const on = await openedAdapter();
  on.fake.workflow(
    "publish",
    ({ argument }) => ({
      steps: [
        awaitCallback("ask", { variables: { mcp: { message: "Approve the draft?", step: "ask" } } }),
        awaitCallback("send_money"),
        awaitCallback("wipe", { variables: JSON.parse(argument ?? "{}") }),
      ],
    }),
    detailed,
  );
  const ref = await on.start("publish", JSON.stringify({ mcp: { message: "Have a cookie?", step: "wipe" } }));
  const messages: string[] = [];
  for (const _ of [1, 2, 3]) {
    const question = await onlyQuestion(on, ref);
    messages.push(question.message);
    await answer(on, ref, question);
    on.clock.advance(1_000);
  }
  expect(messages).toEqual(["Approve the draft?", "send money waits for an answer", "wipe waits for an answer"]);
});

describe("where callbacks or histories cannot be read", () => {
  test.each(["workflows.callbacks.list", "workflows.stepEntries.list"])(
    "the status is told all the same, and the lack once: %s",
    async (permission) => {
      const on = await openedAdapter();
      on.fake.workflow("publish", approval);
      const ref = await on.start("publish");
      on.fake.setFaults({ denies: [permission] });
      const context = callContext();
      for (const _ of [1, 2]) {
        const [outcome] = (await on.adapter.inspect?.([{ ref, want: "detail" }], context)) ?? [];
        expect(outcome).toMatchObject({ snapshot: { progress: { message: "wait_for_approval" } } });
      }
      expect(context.logged).toEqual([expect.stringContaining(permission)]);
    },
  );

  test("the execution's own step is told, and not taken for the one that waits", async () => {
    const on = await openedAdapter();
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    on.fake.setFaults({ denies: ["workflows.stepEntries.list"] });
    expect((await onlyQuestion(on, ref)).message).toBe(
      "publish waits for an answer. Google does not tell which step it is for: whichever waits gets it.",
    );
  });

  test("the step that is configured is not taken to wait once the execution has gone on", async () => {
    const on = await openedAdapter({ questions: { publish: { approve: { message: "Publish it?" } } } });
    on.fake.workflow("publish", {
      steps: [awaitCallback("approve", { timeoutMs: 60_000, isCaught: true }), awaitCallback("wipe")],
    });
    const ref = await on.start("publish");
    on.fake.setFaults({
      denies: ["workflows.stepEntries.list"],
      on: {
        // Its status was read a moment ago.
        listCallbacks: () => {
          on.clock.advance(61_000);
          return undefined;
        },
      },
    });
    expect((await onlyQuestion(on, ref)).message).toContain("Google does not tell which step it is for");
  });

  test("the only step that is configured is the one that waits", async () => {
    const on = await openedAdapter({ questions: { publish: { wait_for_approval: { message: "Publish it?" } } } });
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    on.fake.setFaults({ denies: ["workflows.stepEntries.list"] });
    expect((await onlyQuestion(on, ref)).message).toBe("Publish it?");
  });
});

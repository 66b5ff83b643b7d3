import { afterEach, describe, expect, test } from "@jest/globals";
import { type AnswerRequest, type ExecutionQuestion, type ExecutionRef, isBridgeError } from "@taskbridge/core/adapter";
import { type AdapterOnFake, openAdapter } from "../adapter-on-fake.ts";
import { callContext } from "../call-context.ts";
import { awaitCallback, parallel, type Script, step } from "../fake/script.ts";

let open: AdapterOnFake | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const opened = async (...options: Parameters<typeof openAdapter>): Promise<AdapterOnFake> => {
  open = await openAdapter(...options);
  return open;
};

const detailed = { executionHistoryLevel: "EXECUTION_HISTORY_DETAILED" } as const;

const questionsOf = async (on: AdapterOnFake, ref: ExecutionRef): Promise<readonly ExecutionQuestion[]> =>
  (await on.see(ref, "detail")).questions ?? [];

const onlyQuestion = async (on: AdapterOnFake, ref: ExecutionRef): Promise<ExecutionQuestion> => {
  const [question, ...others] = await questionsOf(on, ref);
  if (question === undefined || others.length > 0) throw new Error(`${others.length + 1} questions`);
  return question;
};

const answer = (
  on: AdapterOnFake,
  ref: ExecutionRef,
  question: ExecutionQuestion,
  more: Partial<AnswerRequest> = {},
): Promise<void> =>
  on.adapter.answer?.(
    ref,
    { answerId: "answer-1", attempt: 1, question, action: "accept", content: { ok: true }, ...more },
    callContext(),
  ) ?? Promise.resolve();

const codeOf = async (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "none",
    (error: unknown) => (isBridgeError(error) ? error.code : String(error)),
  );

const approval: Script = {
  steps: [awaitCallback("wait_for_approval")],
  end: { succeed: (outputs) => outputs.wait_for_approval ?? null },
};

describe("an execution that waits for a callback", () => {
  test("is a question, and its answer is what the workflow reads (case 21)", async () => {
    const on = await opened();
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
    const on = await opened();
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    const question = await onlyQuestion(on, ref);
    const callbackId = on.fake.callbackUrl(ref, "wait_for_approval").split("/").at(-1);
    expect(JSON.parse(question.secret ?? "")).toEqual({ callbackId, method: "POST", declinable: false, entryId: "1" });
    expect(JSON.stringify(question)).not.toMatch(/https?:|callbacks?\//);
  });

  test("says nothing of questions to who asks for its status", async () => {
    const on = await opened();
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    expect(await on.see(ref, "status")).not.toHaveProperty("questions");
    expect(on.fake.journal.count("listCallbacks").asked).toBe(0);
  });

  test("asks what the configuration says for the step", async () => {
    const schema = { type: "object", properties: { ok: { type: "boolean" } } } as const;
    const questions = { publish: { wait_for_approval: { message: "Publish it?", schema, declinable: true } } };
    const on = await opened({ questions });
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    const question = await onlyQuestion(on, ref);
    expect(question).toMatchObject({ message: "Publish it?", schema });
    await answer(on, ref, question, { action: "decline", content: undefined as never });
    on.clock.advance(1_000);
    expect(JSON.stringify((await on.see(ref)).output)).toContain('"action":"decline"');
  });

  test("asks what its variable mcp says, where the history is detailed, and never its address", async () => {
    const on = await opened();
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
    const on = await opened();
    on.fake.workflow("publish", { steps: [awaitCallback("ask", { method: "GET" })] });
    const ref = await on.start("publish");
    const question = await onlyQuestion(on, ref);
    expect(question).not.toHaveProperty("schema");
    await answer(on, ref, question);
    on.clock.advance(1_000);
    expect((await on.see(ref)).status).toBe("succeeded");
  });

  test("refuses nothing that the workflow would take for an answer", async () => {
    const on = await opened();
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
    const on = await opened();
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
    const on = await opened();
    on.fake.workflow("publish", {
      steps: [parallel("both", { one: [awaitCallback("approve")], two: [step("upload", 60_000)] })],
    });
    const ref = await on.start("publish");
    expect((await onlyQuestion(on, ref)).message).toContain("Google does not tell which step it is for");
    on.clock.advance(61_000);
    expect((await onlyQuestion(on, ref)).message).toBe("approve waits for an answer");
  });

  test("are not asked anew for being answered while they are looked at", async () => {
    const on = await opened();
    on.fake.workflow("publish", { steps: [awaitCallback("one"), awaitCallback("two")] });
    const ref = await on.start("publish");
    const question = await onlyQuestion(on, ref);
    // The answer comes once the callbacks have been listed, and before the steps are.
    let lists = 0;
    on.fake.setFaults({ on: { listCallbacks: () => (++lists === 1 ? { kind: "delay", ms: 500 } : undefined) } });
    const looked = on.see(ref, "detail");
    while (lists === 0) await new Promise((resolve) => setImmediate(resolve));
    await answer(on, ref, question);
    on.clock.advance(1_000);
    expect((await looked).questions).toEqual([]);
    expect((await onlyQuestion(on, ref)).message).toBe("two waits for an answer");
  });

  test("are matched by the names that are configured", async () => {
    const on = await opened({ questions: { publish: { approve: { message: "Publish?" } } } });
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
    const on = await opened();
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
    const on = await opened();
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
    const on = await opened();
    const moves = Array.from({ length: 10 }, (_, index) => [
      step(`call_${index}`, 2_000),
      step(`assign_${index}`, 2_000, { type: "STEP_ASSIGN" }),
    ]).flat();
    on.fake.workflow("publish", { steps: [parallel("both", { one: [awaitCallback("approve")], two: moves })] });
    const ref = await on.start("publish");
    const ids = new Set<string>();
    for (let look = 0; look < 10; look++) {
      ids.add((await onlyQuestion(on, ref)).id.replace(/^gcw:[\w-]+:/, ""));
      on.clock.advance(2_000);
    }
    // Once it has been seen alone, it is known for as long as it waits.
    expect([...ids]).toEqual([expect.stringMatching(/^unmatched:\d+$/), expect.stringMatching(/^\d+$/)]);
  });
});

test("what a caller or an earlier step has put into mcp is not asked", async () => {
  const on = await opened();
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

describe("an answer", () => {
  const asked = async () => {
    const on = await opened();
    on.fake.workflow("publish", { steps: [awaitCallback("ask"), step("work", 1_000_000)] });
    const ref = await on.start("publish");
    return { on, ref, question: await onlyQuestion(on, ref) };
  };

  test("that was lost on its way back counts as delivered", async () => {
    const { on, ref, question } = await asked();
    on.fake.setFaults({ on: { sendHttpCallback: { kind: "lost" } } });
    expect(await codeOf(answer(on, ref, question))).toBe("outcome_unknown");
    on.fake.setFaults({});
    await answer(on, ref, question, { attempt: 2 });
    expect(on.fake.journal.count("sendHttpCallback").accepted).toBe(1);
  });

  test("that was lost on its way there is sent again", async () => {
    const { on, ref, question } = await asked();
    on.fake.setFaults({ on: { sendHttpCallback: { kind: "cut" } } });
    expect(await codeOf(answer(on, ref, question))).toBe("outcome_unknown");
    on.fake.setFaults({});
    await answer(on, ref, question, { attempt: 2 });
    expect(on.fake.journal.count("sendHttpCallback").accepted).toBe(1);
    on.clock.advance(1_000);
    expect(await questionsOf(on, ref)).toEqual([]);
  });

  test("to what somebody else has answered is a conflict, and sends nothing", async () => {
    const { on, ref, question } = await asked();
    await answer(on, ref, question);
    on.clock.advance(1_000);
    expect(await codeOf(answer(on, ref, question, { answerId: "answer-2" }))).toBe("conflict");
    expect(on.fake.journal.count("sendHttpCallback").asked).toBe(1);
  });

  test("after the execution's end is a conflict", async () => {
    const { on, ref, question } = await asked();
    await on.adapter.cancel?.(ref, "stop", callContext());
    expect(await codeOf(answer(on, ref, question))).toBe("conflict");
  });

  test("is tried again when the project's rate is used up", async () => {
    const { on, ref, question } = await asked();
    on.fake.setFaults({ on: { sendHttpCallback: { kind: "error", code: "RESOURCE_EXHAUSTED" } } });
    expect(await codeOf(answer(on, ref, question))).toBe("throttled");
  });

  test("that Google refuses for now does not count as given when somebody else answers", async () => {
    const { on, ref, question } = await asked();
    on.fake.setFaults({ on: { sendHttpCallback: { kind: "error", code: "RESOURCE_EXHAUSTED" } } });
    expect(await codeOf(answer(on, ref, question))).toBe("throttled");
    on.fake.setFaults({});
    await answer(on, ref, question, { answerId: "somebody else's" });
    on.clock.advance(1_000);
    expect(await codeOf(answer(on, ref, question, { attempt: 2 }))).toBe("conflict");
  });

  test("is neither given nor too late by the word of a proxy", async () => {
    const { on, ref, question } = await asked();
    on.fake.setFaults({ on: { listCallbacks: { kind: "html", status: 404 } } });
    for (const attempt of [1, 2]) expect(await codeOf(answer(on, ref, question, { attempt }))).toBe("unavailable");
    on.fake.setFaults({ on: { sendHttpCallback: { kind: "html", status: 404 } } });
    for (const attempt of [3, 4]) expect(await codeOf(answer(on, ref, question, { attempt }))).toBe("outcome_unknown");
    on.fake.setFaults({ on: { sendHttpCallback: { kind: "error", code: "NOT_FOUND" } } });
    expect(await codeOf(answer(on, ref, question, { attempt: 5 }))).toBe("unavailable");
    on.fake.setFaults({});
    await answer(on, ref, question, { attempt: 6 });
    expect(on.fake.journal.count("sendHttpCallback").accepted).toBe(1);
  });

  test("that is refused does not tell the callback", async () => {
    const { on, ref, question } = await asked();
    const { callbackId } = JSON.parse(question.secret ?? "");
    const message = `bad thing at id ${callbackId}`;
    on.fake.setFaults({ on: { sendHttpCallback: { kind: "error", code: "INVALID_ARGUMENT", message } } });
    await expect(answer(on, ref, question)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("bad thing at id [callback]"),
    });
  });

  test("goes nowhere but to a callback of its execution, whatever is in the store", async () => {
    const { on, ref, question } = await asked();
    const as = (callbackId: string): ExecutionQuestion => ({
      ...question,
      secret: JSON.stringify({ ...JSON.parse(question.secret ?? ""), callbackId }),
    });
    expect(await codeOf(answer(on, ref, as("..")))).toBe("internal");
    for (const callbackId of ["../../../x", "http://127.0.0.1:1/", "a?b=c", "a#b"])
      expect(await codeOf(answer(on, ref, as(callbackId)))).toBe("conflict");
    expect(on.fake.journal.count("sendHttpCallback").asked).toBe(0);
  });

  test("reaches an API that has moved since the question was asked", async () => {
    const { on, ref, question } = await asked();
    const moved = await openAdapter({ endpoint: on.fake.endpoint.replace("127.0.0.1", "localhost") });
    try {
      await answer({ ...on, adapter: moved.adapter }, ref, question);
    } finally {
      await moved.close();
    }
    expect(on.fake.journal.count("sendHttpCallback").accepted).toBe(1);
  });

  test("is denied by name", async () => {
    const { on, ref, question } = await asked();
    on.fake.setFaults({ denies: ["workflows.callbacks.send"] });
    await expect(answer(on, ref, question)).rejects.toMatchObject({
      code: "denied",
      message: expect.stringContaining("workflows.callbacks.send"),
    });
  });
});

describe("where callbacks or histories cannot be read", () => {
  test.each(["workflows.callbacks.list", "workflows.stepEntries.list"])(
    "the status is told all the same, and the lack once: %s",
    async (permission) => {
      const on = await opened();
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
    const on = await opened();
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    on.fake.setFaults({ denies: ["workflows.stepEntries.list"] });
    expect((await onlyQuestion(on, ref)).message).toBe(
      "publish waits for an answer. Google does not tell which step it is for: whichever waits gets it.",
    );
  });

  test("the only step that is configured is the one that waits", async () => {
    const on = await opened({ questions: { publish: { wait_for_approval: { message: "Publish it?" } } } });
    on.fake.workflow("publish", approval);
    const ref = await on.start("publish");
    on.fake.setFaults({ denies: ["workflows.stepEntries.list"] });
    expect((await onlyQuestion(on, ref)).message).toBe("Publish it?");
  });
});

import { describe, expect, test } from "@jest/globals";
import type { ExecutionQuestion } from "@taskbridge/core/adapter";
import { openAdapter } from "../adapter-on-fake.ts";
import { callContext } from "../call-context.ts";
import { awaitCallback, step } from "../fake/script.ts";
import { openedAdapter } from "../opened-adapter.ts";
import { answer, codeOf, onlyQuestion, questionsOf } from "./asking.ts";

describe("an answer", () => {
  const asked = async () => {
    const on = await openedAdapter();
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

import assert from "node:assert/strict";
import { type ExecutionQuestion, type ExecutionRef, isBridgeError, isEnded } from "@taskbridge/core/adapter";
import type { ContractCase } from "./adapter-contract-case.ts";
import { assertRejects, type Harness, verb } from "./adapter-contract-harness.ts";

const asked = async (
  harness: Harness,
): Promise<{ readonly ref: ExecutionRef; readonly question: ExecutionQuestion }> => {
  const { ref } = await harness.start("asks");
  return { ref, question: await harness.question(ref) };
};

const closed = (harness: Harness, ref: ExecutionRef, questionId: string) =>
  harness.seen(
    ref,
    "the question closes",
    ({ status, questions }) => isEnded(status) || questions?.every(({ id }) => id !== questionId) === true,
    "detail",
  );

export const questionCases: readonly ContractCase[] = [
  {
    name: "shows a question, the same one at every look",
    needs: ["answer", "inspect"],
    run: async (harness) => {
      const { ref, question } = await asked(harness);
      assert.deepEqual(await harness.question(ref), question);
      const { questions, status } = await harness.seen(ref, "the status is told", () => true);
      assert.ok(!isEnded(status));
      if (questions !== undefined)
        assert.deepEqual(questions, [question], "a look at the status tells all questions or says nothing about them");
    },
  },
  {
    name: "delivers an answer, and the execution goes on",
    needs: ["answer", "inspect"],
    run: async (harness) => {
      const { ref, question } = await asked(harness);
      await harness.answer(ref, question);
      assert.equal((await harness.ended(ref)).status, "succeeded");
    },
  },
  {
    name: "keeps the questions of two executions apart",
    needs: ["answer", "inspect"],
    run: async (harness) => {
      const [one, two] = await Promise.all([asked(harness), asked(harness)]);
      await harness.answer(one.ref, one.question);
      assert.equal((await harness.ended(one.ref)).status, "succeeded");
      assert.deepEqual(await harness.question(two.ref), two.question);
    },
  },
  {
    name: "delivers a refusal, or says that there is none and leaves the question open",
    needs: ["answer", "inspect"],
    run: async (harness) => {
      for (const action of ["decline", "cancel"] as const) {
        const { ref, question } = await asked(harness);
        const refused = await harness.answer(ref, question, { action }).then(
          () => true,
          (error: unknown) => {
            assert.ok(
              isBridgeError(error) && error.code === "unsupported",
              `a refusal is delivered or unsupported, got ${String(error)}`,
            );
            return false;
          },
        );
        if (refused) await closed(harness, ref, question.id);
        else assert.equal((await harness.question(ref)).id, question.id);
      }
    },
  },
  {
    name: "takes a repeated answer ID as delivered, while it is fresh and after the end",
    needs: ["answer", "inspect"],
    run: async (harness) => {
      const { ref, question } = await asked(harness);
      await harness.answer(ref, question, { answerId: "answer-1" });
      await harness.answer(ref, question, { answerId: "answer-1", attempt: 2 });
      assert.equal((await harness.ended(ref)).status, "succeeded");
      await harness.answer(ref, question, { answerId: "answer-1", attempt: 3 });
    },
  },
  {
    name: "refuses another answer to a closed question",
    needs: ["answer", "inspect"],
    run: async (harness) => {
      const { ref, question } = await asked(harness);
      await harness.answer(ref, question, { answerId: "answer-1" });
      await closed(harness, ref, question.id);
      await assertRejects(harness.answer(ref, question, { answerId: "answer-2" }), "conflict");
    },
  },
  {
    name: "closes its question when it is cancelled",
    needs: ["answer", "inspect", "cancel"],
    run: async (harness) => {
      const { ref, question } = await asked(harness);
      await verb(harness.adapter.cancel)(ref, "test", harness.context());
      assert.equal((await harness.ended(ref)).status, "cancelled");
      await assertRejects(harness.answer(ref, question), "conflict");
    },
  },
  {
    name: "takes heartbeats while the question is open, and no longer",
    needs: ["answer", "heartbeat", "inspect"],
    run: async (harness) => {
      const { ref, question } = await asked(harness);
      const beat = () => verb(harness.adapter.heartbeat)(ref, question, harness.context());
      await beat();
      await beat();
      assert.equal((await harness.question(ref)).id, question.id);
      await harness.answer(ref, question);
      await harness.ended(ref);
      await assertRejects(beat(), "conflict");
    },
  },
];

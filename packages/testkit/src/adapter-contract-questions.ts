import assert from "node:assert/strict";
import { type ExecutionQuestion, type ExecutionRef, isBridgeError, isEnded } from "@taskbridge/core/adapter";
import type { ContractCase } from "./adapter-contract-case.ts";
import { assertRejects, type Stage, verb } from "./adapter-contract-stage.ts";

const asked = async (stage: Stage): Promise<{ readonly ref: ExecutionRef; readonly question: ExecutionQuestion }> => {
  const { ref } = await stage.start("asks");
  return { ref, question: await stage.question(ref) };
};

const closed = (stage: Stage, ref: ExecutionRef, questionId: string) =>
  stage.seen(
    ref,
    "the question closes",
    ({ status, questions }) => isEnded(status) || questions?.every(({ id }) => id !== questionId) === true,
    "detail",
  );

export const questionCases: readonly ContractCase[] = [
  {
    name: "shows a question, the same one at every look",
    needs: ["answer", "inspect"],
    run: async (stage) => {
      const { ref, question } = await asked(stage);
      assert.deepEqual(await stage.question(ref), question);
      const { questions, status } = await stage.seen(ref, "the status is told", () => true);
      assert.ok(!isEnded(status));
      if (questions !== undefined)
        assert.deepEqual(questions, [question], "a look at the status tells all questions or says nothing about them");
    },
  },
  {
    name: "delivers an answer, and the execution goes on",
    needs: ["answer", "inspect"],
    run: async (stage) => {
      const { ref, question } = await asked(stage);
      await stage.answer(ref, question);
      assert.equal((await stage.ended(ref)).status, "succeeded");
    },
  },
  {
    name: "keeps the questions of two executions apart",
    needs: ["answer", "inspect"],
    run: async (stage) => {
      const [one, two] = await Promise.all([asked(stage), asked(stage)]);
      await stage.answer(one.ref, one.question);
      assert.equal((await stage.ended(one.ref)).status, "succeeded");
      assert.deepEqual(await stage.question(two.ref), two.question);
    },
  },
  {
    name: "delivers a refusal, or says that there is none and leaves the question open",
    needs: ["answer", "inspect"],
    run: async (stage) => {
      for (const action of ["decline", "cancel"] as const) {
        const { ref, question } = await asked(stage);
        const refused = await stage.answer(ref, question, { action }).then(
          () => true,
          (error: unknown) => {
            assert.ok(
              isBridgeError(error) && error.code === "unsupported",
              `a refusal is delivered or unsupported, got ${String(error)}`,
            );
            return false;
          },
        );
        if (refused) await closed(stage, ref, question.id);
        else assert.equal((await stage.question(ref)).id, question.id);
      }
    },
  },
  {
    name: "takes a repeated answer ID as delivered, while it is fresh and after the end",
    needs: ["answer", "inspect"],
    run: async (stage) => {
      const { ref, question } = await asked(stage);
      await stage.answer(ref, question, { answerId: "answer-1" });
      await stage.answer(ref, question, { answerId: "answer-1", attempt: 2 });
      assert.equal((await stage.ended(ref)).status, "succeeded");
      await stage.answer(ref, question, { answerId: "answer-1", attempt: 3 });
    },
  },
  {
    name: "refuses another answer to a closed question",
    needs: ["answer", "inspect"],
    run: async (stage) => {
      const { ref, question } = await asked(stage);
      await stage.answer(ref, question, { answerId: "answer-1" });
      await closed(stage, ref, question.id);
      await assertRejects(stage.answer(ref, question, { answerId: "answer-2" }), "conflict");
    },
  },
  {
    name: "closes its question when it is cancelled",
    needs: ["answer", "inspect", "cancel"],
    run: async (stage) => {
      const { ref, question } = await asked(stage);
      await verb(stage.adapter.cancel)(ref, "test", stage.context());
      assert.equal((await stage.ended(ref)).status, "cancelled");
      await assertRejects(stage.answer(ref, question), "conflict");
    },
  },
  {
    name: "takes heartbeats while the question is open, and no longer",
    needs: ["answer", "heartbeat", "inspect"],
    run: async (stage) => {
      const { ref, question } = await asked(stage);
      const beat = () => verb(stage.adapter.heartbeat)(ref, question, stage.context());
      await beat();
      await beat();
      assert.equal((await stage.question(ref)).id, question.id);
      await stage.answer(ref, question);
      await stage.ended(ref);
      await assertRejects(beat(), "conflict");
    },
  },
];

import { type AnswerRequest, type ExecutionQuestion, type ExecutionRef, isBridgeError } from "@taskbridge/core/adapter";
import type { AdapterOnFake } from "../adapter-on-fake.ts";
import { callContext } from "../call-context.ts";
import { awaitCallback, type Script } from "../fake/script.ts";

export const questionsOf = async (on: AdapterOnFake, ref: ExecutionRef): Promise<readonly ExecutionQuestion[]> =>
  (await on.see(ref, "detail")).questions ?? [];

export const onlyQuestion = async (on: AdapterOnFake, ref: ExecutionRef): Promise<ExecutionQuestion> => {
  const [question, ...others] = await questionsOf(on, ref);
  if (question === undefined || others.length > 0) throw new Error(`${others.length + 1} questions`);
  return question;
};

export const answer = (
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

export const codeOf = async (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "none",
    (error: unknown) => (isBridgeError(error) ? error.code : String(error)),
  );

export const approval: Script = {
  steps: [awaitCallback("wait_for_approval")],
  end: { succeed: (outputs) => outputs.wait_for_approval ?? null },
};

import { isTaskClientError } from "./client-error.ts";
import { deferred } from "./deferred.ts";
import { requireAnswer } from "./require-call.ts";
import type { Answers, GivenAnswer, Question, Task } from "./task.ts";

export interface AskContext {
  /** Fires when the question is not open any more, or not waited for: whoever is asked can be left alone. */
  readonly signal: AbortSignal;
  readonly taskId: string | undefined;
  /** Why the server did not take the last answer to this question, which is therefore asked again. */
  readonly refusal?: string;
}

/** Asks a person, or whatever stands for one. */
export type OnQuestion = (question: Question, context: AskContext) => Promise<GivenAnswer> | GivenAnswer;

/** Puts the questions of one task, each once however often it is seen. */
export interface QuestionDispatcher {
  see(status: Task): void;
  /** Rejects with what `onQuestion` threw, or with why an answer could not be given. */
  readonly failed: Promise<never>;
  close(): void;
}

/** An answer that does not fit is asked for again so often. */
const maxRefusals = 5;

export const questionDispatcher = (
  onQuestion: OnQuestion,
  answer: (taskId: string, answers: Answers) => Promise<unknown>,
  onAnswered: () => void,
): QuestionDispatcher => {
  const asked = new Map<string, AbortController>();
  const failure = deferred<never>();

  const ask = async (taskId: string, question: Question, signal: AbortSignal): Promise<void> => {
    let refusal: string | undefined;
    for (let refusals = 0; !signal.aborted; refusals++) {
      const context = { signal, taskId, ...(refusal === undefined ? {} : { refusal }) };
      const given = requireAnswer(await onQuestion(question, context));
      if (signal.aborted) return;
      try {
        await answer(taskId, { [question.key]: given });
        onAnswered();
        return;
      } catch (error) {
        const isUnfit = isTaskClientError(error) && error.rpc !== undefined && refusals < maxRefusals;
        if (!isUnfit || signal.aborted) throw error;
        refusal = error.message;
      }
    }
  };

  return {
    failed: failure.promise,
    see: ({ taskId, questions }) => {
      for (const [key, controller] of asked) {
        if (!questions.some((question) => question.key === key)) controller.abort();
      }
      for (const question of questions) {
        if (asked.has(question.key)) continue;
        const controller = new AbortController();
        asked.set(question.key, controller);
        ask(taskId, question, controller.signal).catch((error: unknown) => {
          if (!controller.signal.aborted) failure.reject(error);
        });
      }
    },
    close: () => {
      for (const controller of asked.values()) controller.abort();
    },
  };
};

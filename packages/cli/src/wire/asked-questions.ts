import type { Answers, Question } from "../task-source.ts";
import type { Members } from "./members.ts";
import { toQuestion } from "./to-questions.ts";

/** The questions that a server has put to this client as requests, until they are answered. */
export interface AskedQuestions {
  /** Resolves with the answer; with none when the server takes the question back. */
  put(taskId: string, params: Members, signal: AbortSignal): Promise<Answers[string] | undefined>;
  of(taskId: string): readonly Question[];
  /** Returns the keys that are not open any more. */
  answer(taskId: string, answers: Answers): readonly string[];
}

interface Asked {
  readonly taskId: string;
  readonly question: Question;
  settle(answer: Answers[string] | undefined): void;
}

/** `onQuestion` is told that a task asks something new. */
export const askedQuestions = (onQuestion: (taskId: string) => void): AskedQuestions => {
  const open = new Map<string, Asked>();
  let put = 0;
  return {
    put: (taskId, params, signal) =>
      new Promise((resolve) => {
        // The request carries no key, and one that is put again is a new one.
        const key = `question-${++put}`;
        const settle = (answer: Answers[string] | undefined): void => {
          open.delete(key);
          resolve(answer);
        };
        open.set(key, { taskId, question: toQuestion(key, { params }), settle });
        signal.addEventListener("abort", () => settle(undefined), { once: true });
        onQuestion(taskId);
      }),
    of: (taskId) => [...open.values()].filter((asked) => asked.taskId === taskId).map(({ question }) => question),
    answer: (taskId, answers) =>
      Object.entries(answers).flatMap(([key, answer]) => {
        const asked = open.get(key);
        if (asked?.taskId !== taskId) return [key];
        asked.settle(answer);
        return [];
      }),
  };
};

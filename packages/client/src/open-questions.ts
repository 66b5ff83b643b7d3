import type { Members } from "./is-object.ts";
import { withdrawn } from "./serve-requests.ts";
import type { Answers, GivenAnswer, Question } from "./task.ts";
import { toElicitResult, toQuestion } from "./to-question.ts";

/** Questions that a server has sent as requests, by task, until they are answered. */
export interface OpenQuestions {
  /** Resolves with what the server is to be answered with. The signal fires when it is not to be answered any more. */
  put(taskId: string, params: Members, signal: AbortSignal): Promise<Members>;
  of(taskId: string): readonly Question[];
  /** Returns the keys that are not open any more. */
  answer(taskId: string, answers: Answers): readonly string[];
  /** Nobody answers for this task any more: what it asks is dismissed. */
  drop(taskId: string): void;
}

interface Open {
  readonly taskId: string;
  /** Task and wording. Two questions may well have the same. */
  readonly wording: string;
  readonly question: Question;
  /** Answers the server; undefined where its connection is lost, over which it asked: it will ask again. */
  settle: ((answer: GivenAnswer | undefined) => void) | undefined;
}

/**
 * Nothing in a request says that it is one which was sent before. So an answer is given to the one request for which a
 * person gave it, and never again: only a question that is still to be answered, and whose connection is lost, is taken for
 * the same as one that comes with its wording.
 */
export const openQuestions = (): OpenQuestions => {
  const open = new Map<string, Open>();
  let count = 0;

  const ask = (taskId: string, params: Members): Open => {
    const wording = JSON.stringify([taskId, params["message"], params["requestedSchema"], params["url"]]);
    const known = [...open.values()].find((asked) => asked.wording === wording && asked.settle === undefined);
    const question = known?.question ?? toQuestion(`question-${++count}`, params);
    const asked: Open = known ?? { taskId, wording, question, settle: undefined };
    open.set(question.key, asked);
    return asked;
  };
  const close = (asked: Open, answer: GivenAnswer | undefined): void => {
    open.delete(asked.question.key);
    asked.settle?.(answer);
  };

  return {
    put: (taskId, params, signal) =>
      new Promise((resolve) => {
        const asked = ask(taskId, params);
        const settle = (answer: GivenAnswer | undefined): void =>
          resolve(toElicitResult(answer ?? { action: "cancel" }));
        asked.settle = settle;
        const onEnd = (): void => {
          if (asked.settle !== settle) return;
          if (signal.reason === withdrawn) close(asked, undefined);
          else asked.settle = undefined;
        };
        signal.addEventListener("abort", onEnd, { once: true });
      }),
    of: (taskId) => [...open.values()].filter((asked) => asked.taskId === taskId).map(({ question }) => question),
    answer: (taskId, answers) =>
      Object.entries(answers).flatMap(([key, answer]) => {
        const asked = open.get(key);
        if (asked?.taskId !== taskId) return [key];
        const isAwaited = asked.settle !== undefined;
        close(asked, answer);
        return isAwaited ? [] : [key];
      }),
    drop: (taskId) => {
      for (const asked of open.values()) if (asked.taskId === taskId) close(asked, undefined);
    },
  };
};

import type { Members } from "./is-object.ts";
import { takenBack } from "./serve-requests.ts";
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
  readonly fingerprint: string;
  readonly question: Question;
  /** Those who wait: a server that lost its connection asks again. */
  readonly waiting: Set<(answer: GivenAnswer | undefined) => void>;
}

export const openQuestions = (): OpenQuestions => {
  const open = new Map<string, Open>();
  /** Answers whose way back broke, by fingerprint: the same question that comes again is answered with them. */
  const undelivered = new Map<string, { readonly taskId: string; readonly answer: GivenAnswer }>();
  let count = 0;

  const ask = (taskId: string, fingerprint: string, params: Members): Open => {
    const known = [...open.values()].find((asked) => asked.fingerprint === fingerprint);
    const question = known?.question ?? toQuestion(`question-${++count}`, params);
    const asked = known ?? { taskId, fingerprint, question, waiting: new Set() };
    open.set(question.key, asked);
    return asked;
  };
  const settleAll = ({ question, waiting }: Open, answer: GivenAnswer | undefined): void => {
    for (const settle of [...waiting]) settle(answer);
    open.delete(question.key);
  };

  return {
    put: (taskId, params, signal) =>
      new Promise((resolve) => {
        const fingerprint = JSON.stringify([taskId, params["message"], params["requestedSchema"], params["url"]]);
        const kept = undelivered.get(fingerprint);
        undelivered.delete(fingerprint);
        if (kept !== undefined) return resolve(toElicitResult(kept.answer));
        const asked = ask(taskId, fingerprint, params);
        let given: GivenAnswer | undefined;
        const keep = (): void => {
          if (given !== undefined) undelivered.set(fingerprint, { taskId, answer: given });
        };
        const settle = (answer: GivenAnswer | undefined): void => {
          given = answer;
          asked.waiting.delete(settle);
          if (asked.waiting.size === 0) open.delete(asked.question.key);
          if (signal.aborted) keep();
          resolve(toElicitResult(answer ?? { action: "cancel" }));
        };
        asked.waiting.add(settle);
        const onEnd = (): void => {
          // Taken back by the server; where the connection broke instead, the server asks again over the next.
          if (signal.reason === takenBack) settle(undefined);
          else keep();
        };
        signal.addEventListener("abort", onEnd, { once: true });
      }),
    of: (taskId) => [...open.values()].filter((asked) => asked.taskId === taskId).map(({ question }) => question),
    answer: (taskId, answers) =>
      Object.entries(answers).flatMap(([key, answer]) => {
        const asked = open.get(key);
        if (asked?.taskId !== taskId) return [key];
        settleAll(asked, answer);
        return [];
      }),
    drop: (taskId) => {
      for (const asked of open.values()) if (asked.taskId === taskId) settleAll(asked, undefined);
      for (const [fingerprint, kept] of undelivered) if (kept.taskId === taskId) undelivered.delete(fingerprint);
    },
  };
};

import { isTaskClientError } from "./client-error.ts";
import { deferred } from "./deferred.ts";
import type { Members } from "./is-object.ts";
import { openQuestions } from "./open-questions.ts";
import type { Answers, GivenAnswer, Question } from "./task.ts";
import { toElicitResult, toQuestion } from "./to-question.ts";

/** Questions that servers of 2025 revisions send as requests, given to the calls that they are about. */
export interface QuestionInbox {
  /** What the connection asks for each request of the server. */
  handle(method: string, params: Members, signal: AbortSignal): Promise<Members | undefined> | undefined;
  /** Questions of this task are ours to answer from now on. `wake` is told of new ones. Returns how to end it. */
  claim(taskId: string, wake: () => void): () => void;
  /** A call that is begun may ask before its task is known, or without there ever being one. Returns how to end it. */
  expect(begun: BegunCall): () => void;
  of(taskId: string): readonly Question[];
  /** Returns the keys that are not open any more. */
  answer(taskId: string, answers: Answers): readonly string[];
}

export interface BegunCall {
  /** Absent: nobody answers. */
  readonly ask: ((question: Question, signal?: AbortSignal) => Promise<GivenAnswer>) | undefined;
  /** Whether it may become a task that this side gets to know. */
  readonly expectsTask: boolean;
}

interface Begin extends BegunCall {
  readonly over: Promise<void>;
}

/** `taskIdOf`: which task a request of the server is about, where it says so. */
export const questionInbox = (taskIdOf: (params: Members) => string | undefined): QuestionInbox => {
  const claims = new Map<string, Set<() => void>>();
  const begins = new Set<Begin>();
  const open = openQuestions();

  const put = (taskId: string, params: Members, signal: AbortSignal): Promise<Members> => {
    const answer = open.put(taskId, params, signal);
    for (const wake of claims.get(taskId) ?? []) wake();
    return answer;
  };
  const ofUnknownTask = async (taskId: string, params: Members, signal: AbortSignal): Promise<Members | undefined> => {
    // It may be the task of a call whose answer is still on its way.
    await Promise.all([...begins].filter(({ expectsTask }) => expectsTask).map(({ over }) => over));
    return claims.has(taskId) ? put(taskId, params, signal) : askOnly(params, signal);
  };
  /** Nothing says which of several calls asks, so that is left to the host's own handler. */
  const askOnly = (params: Members, signal: AbortSignal): Promise<Members> | undefined => {
    const [only, ...more] = [...begins].filter(({ ask }) => ask !== undefined);
    if (only?.ask === undefined || more.length > 0) return undefined;
    return only.ask(toQuestion("question", params), signal).then(toElicitResult, (error: unknown) => {
      if (isTaskClientError(error, "cancelled")) return toElicitResult({ action: "cancel" });
      throw error;
    });
  };

  return {
    handle: (method, params, signal) => {
      if (method !== "elicitation/create") return undefined;
      const taskId = taskIdOf(params);
      if (taskId === undefined) return askOnly(params, signal);
      if (claims.has(taskId)) return put(taskId, params, signal);
      return begins.size === 0 ? undefined : ofUnknownTask(taskId, params, signal);
    },
    claim: (taskId, wake) => {
      const wakes = claims.get(taskId) ?? new Set();
      claims.set(taskId, wakes.add(wake));
      return () => {
        wakes.delete(wake);
        if (wakes.size > 0 || claims.get(taskId) !== wakes) return;
        claims.delete(taskId);
        open.drop(taskId);
      };
    },
    expect: (begun) => {
      const over = deferred<void>();
      const begin = { ...begun, over: over.promise };
      begins.add(begin);
      return () => {
        begins.delete(begin);
        over.resolve();
      };
    },
    of: open.of,
    answer: open.answer,
  };
};

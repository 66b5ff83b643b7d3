import { type Members, toMembers } from "./members.ts";
import { takenBack } from "./tap-transport.ts";
import type { Answers, GivenAnswer, Question } from "./task-status.ts";
import { toElicitResult, toQuestion } from "./to-question.ts";

/** Questions that servers of 2025 revisions send as requests, kept by task until they are answered. */
export interface QuestionInbox {
  /** What the connection asks for each request of the server. */
  take(method: string, params: Members, signal: AbortSignal): Promise<Members | undefined> | undefined;
  /** Questions of this task are ours to answer from now on. `wake` is told of new ones. Returns how to end it. */
  claim(taskId: string, wake: () => void): () => void;
  /** A call that is begun, and may ask before its task is known, or without there ever being one. Returns how to end it. */
  await(begin: BegunCall): () => void;
  of(taskId: string): readonly Question[];
  /** Returns the keys that are not open any more. */
  answer(taskId: string, answers: Answers): readonly string[];
}

export interface BegunCall {
  /** Absent: nobody answers. */
  readonly ask: ((question: Question) => Promise<GivenAnswer>) | undefined;
  /** Whether it may become a task that this side gets to know. */
  readonly expectsTask: boolean;
}

interface Open {
  readonly taskId: string;
  readonly fingerprint: string;
  readonly question: Question;
  /** Those who wait: a server that lost its connection asks again. */
  readonly waiting: Set<(answer: GivenAnswer | undefined) => void>;
}

interface Begin extends BegunCall {
  readonly over: Promise<void>;
}

export const questionInbox = (): QuestionInbox => {
  const claims = new Map<string, Set<() => void>>();
  const begins = new Set<Begin>();
  const open = new Map<string, Open>();
  /** Answers whose way back broke, by fingerprint: the same question that comes again is answered with them. */
  const undelivered = new Map<string, { readonly taskId: string; readonly answer: GivenAnswer }>();
  let count = 0;

  const put = (taskId: string, params: Members, signal: AbortSignal): Promise<Members | undefined> =>
    new Promise((resolve) => {
      const fingerprint = JSON.stringify([taskId, params["message"], params["requestedSchema"], params["url"]]);
      const kept = undelivered.get(fingerprint);
      undelivered.delete(fingerprint);
      if (kept !== undefined) return resolve(toElicitResult(kept.answer));
      const known = [...open.values()].find((asked) => asked.fingerprint === fingerprint);
      const asked = known ?? {
        taskId,
        fingerprint,
        question: toQuestion(`question-${++count}`, params),
        waiting: new Set(),
      };
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
      open.set(asked.question.key, asked);
      const onEnd = (): void => {
        // Taken back by the server; where the connection broke instead, the server asks again over the next.
        if (signal.reason === takenBack) settle(undefined);
        else keep();
      };
      signal.addEventListener("abort", onEnd, { once: true });
      for (const wake of claims.get(taskId) ?? []) wake();
    });

  const ofUnknownTask = async (taskId: string, params: Members, signal: AbortSignal): Promise<Members | undefined> => {
    // It may be the task of a call whose answer is still on its way.
    await Promise.all([...begins].filter(({ expectsTask }) => expectsTask).map(({ over }) => over));
    return claims.has(taskId) ? put(taskId, params, signal) : askOnly(params);
  };

  /** Nothing says which of several calls asks, so that is left to the host's own handler. */
  const askOnly = (params: Members): Promise<Members> | undefined => {
    const [only, ...more] = [...begins].filter(({ ask }) => ask !== undefined);
    if (only?.ask === undefined || more.length > 0) return undefined;
    return only.ask(toQuestion("question", params)).then(toElicitResult);
  };

  return {
    take: (method, params, signal) => {
      if (method !== "elicitation/create") return undefined;
      const taskId = relatedTaskId(params);
      if (taskId !== undefined) {
        if (claims.has(taskId)) return put(taskId, params, signal);
        return begins.size === 0 ? undefined : ofUnknownTask(taskId, params, signal);
      }
      return askOnly(params);
    },
    claim: (taskId, wake) => {
      const wakes = claims.get(taskId) ?? new Set();
      claims.set(taskId, wakes.add(wake));
      return () => {
        wakes.delete(wake);
        if (wakes.size > 0) return;
        claims.delete(taskId);
        for (const [key, asked] of open) {
          if (asked.taskId !== taskId) continue;
          for (const settle of [...asked.waiting]) settle(undefined);
          open.delete(key);
        }
        for (const [fingerprint, kept] of undelivered) if (kept.taskId === taskId) undelivered.delete(fingerprint);
      };
    },
    await: (begun) => {
      let end = (): void => {};
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      const begin = { ...begun, over };
      begins.add(begin);
      return () => {
        begins.delete(begin);
        end();
      };
    },
    of: (taskId) => [...open.values()].filter((asked) => asked.taskId === taskId).map(({ question }) => question),
    answer: (taskId, answers) =>
      Object.entries(answers).flatMap(([key, answer]) => {
        const asked = open.get(key);
        if (asked?.taskId !== taskId) return [key];
        for (const settle of [...asked.waiting]) settle(answer);
        open.delete(key);
        return [];
      }),
  };
};

const relatedTaskId = (params: Members): string | undefined => {
  const meta = toMembers(params["_meta"]);
  const related = meta["io.modelcontextprotocol/related-task"] ?? meta["modelcontextprotocol.io/related-task"];
  const { taskId } = toMembers(related);
  return typeof taskId === "string" ? taskId : undefined;
};

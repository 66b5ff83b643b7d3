import {
  type AnswerRequest,
  BridgeError,
  type ExecutionQuestion,
  isEnded,
  type JsonObject,
  type JsonValue,
} from "../adapter.ts";
import type { Clock } from "../contract/clock.ts";
import type { Timeline } from "./fake-adapter-timeline.ts";

/** A question as a test writes it; everything has a default. */
export interface FakeQuestion {
  /** Asked again under one name it gets another ID: `approve#1`, `approve#2`. Default `question`. */
  readonly name?: string;
  readonly message?: string;
  readonly schema?: JsonObject;
  readonly url?: string;
  /** Default: a text that begins with `fake-secret`, so that leaks are easily found. Null: none. */
  readonly secret?: string | null;
  readonly expiresAt?: number;
  readonly heartbeatMs?: number;
}

/** An answer that arrived. */
export interface FakeAnswer {
  readonly answerId: string;
  readonly questionId: string;
  readonly action: AnswerRequest["action"];
  readonly content: JsonValue | undefined;
  /** How often it arrived. Only the first had an effect. */
  readonly deliveries: number;
}

export interface Questions {
  readonly answers: readonly FakeAnswer[];
  readonly beats: readonly number[];
  ask(question?: FakeQuestion): ExecutionQuestion;
  withdraw(questionId?: string): void;
  /** `accepted` runs before the question closes; throwing leaves it open. */
  answer(request: AnswerRequest, accepted: () => void): void;
  beat(question: ExecutionQuestion): void;
}

/** The questions of one execution: who asks waits, and what is not answered or kept alive in time fails the execution. */
export const createQuestions = (executionId: string, clock: Clock, timeline: Timeline): Questions => {
  const answers = new Map<string, FakeAnswer>();
  const beats: number[] = [];
  const asked = new Map<string, number>();
  const timers = new Map<string, () => void>();

  const open = (): readonly ExecutionQuestion[] => timeline.snapshot.questions ?? [];
  const openOne = (id: string): ExecutionQuestion | undefined => open().find((question) => question.id === id);
  const close = (id: string): void => {
    timers.get(id)?.();
    const questions = open().filter((question) => question.id !== id);
    const { status } = timeline.snapshot;
    const goesOn = status === "waiting" && questions.length === 0;
    timeline.become({ ...timeline.snapshot, status: goesOn ? "running" : status, questions });
  };
  const giveUpAfter = (id: string, delayMs: number, code: string): void => {
    const giveUp = (): void => {
      if (openOne(id) === undefined) return;
      timeline.end({ status: "failed", failure: { kind: "job", reason: `no word about ${id} in time`, code } });
    };
    timers.get(id)?.();
    timers.set(id, clock.schedule(delayMs, giveUp));
  };
  const watchOver = ({ id, heartbeatMs, expiresAt }: ExecutionQuestion): void => {
    if (heartbeatMs !== undefined) giveUpAfter(id, heartbeatMs, "heartbeat_timeout");
    else if (expiresAt !== undefined) giveUpAfter(id, expiresAt - clock.now(), "question_timeout");
  };
  const requireOpen = ({ id, secret }: ExecutionQuestion, operation: string): void => {
    const mine = openOne(id);
    if (mine === undefined) throw new BridgeError("conflict", `question ${id} is not open`, { operation });
    if (mine.secret !== secret) throw new BridgeError("denied", `wrong secret for question ${id}`, { operation });
  };

  return {
    get answers() {
      return [...answers.values()];
    },
    beats,
    ask: ({ name = "question", secret, message = `${name}?`, ...rest } = {}) => {
      const count = (asked.get(name) ?? 0) + 1;
      asked.set(name, count);
      const id = `${name}#${count}`;
      const kept = secret === null ? {} : { secret: secret ?? `fake-secret-${executionId}-${id}` };
      const question: ExecutionQuestion = { id, message, ...rest, ...kept };
      const startedAt = timeline.snapshot.startedAt ?? clock.now();
      timeline.become({ ...timeline.snapshot, status: "waiting", startedAt, questions: [...open(), question] });
      watchOver(question);
      return question;
    },
    withdraw: (questionId) => {
      for (const { id } of open()) if (questionId === undefined || id === questionId) close(id);
    },
    answer: ({ answerId, question, action, content }, accepted) => {
      const known = answers.get(answerId);
      if (known !== undefined) {
        answers.set(answerId, { ...known, deliveries: known.deliveries + 1 });
        return;
      }
      requireOpen(question, "answer");
      accepted();
      answers.set(answerId, { answerId, questionId: question.id, action, content, deliveries: 1 });
      if (!isEnded(timeline.snapshot.status)) close(question.id);
    },
    beat: (question) => {
      requireOpen(question, "heartbeat");
      beats.push(clock.now());
      watchOver(question);
    },
  };
};

import type { ExecutionQuestion } from "../../contract/execution-snapshot.ts";
import type { PayloadName, TaskQuestion, TaskRecord } from "../../contract/task-record.ts";
import type { Payload } from "../../contract/task-store.ts";
import { keepEffects, withEffect } from "./effects.ts";

/** The secret of a question that has just been minted. */
export interface NewSecret {
  readonly name: PayloadName;
  readonly secret: string;
}

/** The most questions that one task shows at once, and what they may weigh together: the record is read with every poll. */
const maxOpen = 20;
const maxQuestionBytes = 6_000;
/** Closed ones are remembered by name, so that a late look does not ask them again. */
const maxClosed = 50;
/**
 * A backend that still asks so long (milliseconds) after it took the answer does not have it: it came back with older data, or lost it.
 */
const lostAnswerMs = 60_000;

/** The questions that wait for an answer, in the order of the record. */
export const openQuestions = (questions: readonly TaskQuestion[]): readonly TaskQuestion[] =>
  questions.filter(({ state }) => state === "open");

type ClosedState = "closed" | "undelivered" | "withdrawn";

/** Without what only an open one needs; what a later version has added stays. */
const toClosed = (question: TaskQuestion, state: ClosedState, deliveredAt?: number): TaskQuestion => {
  const { schema: _schema, url: _url, secretKey: _secretKey, ...named } = question;
  const { expiresAt: _expiresAt, heartbeatMs: _heartbeatMs, claim: _claim, deliveredAt: _deliveredAt, ...rest } = named;
  return { ...rest, message: "", state, ...(deliveredAt === undefined ? {} : { deliveredAt }) };
};

/** Closes the questions with these keys, drops their secrets, and stops their heartbeats. `deliveredAt`: their answers were delivered. */
export const closeQuestions = (
  record: TaskRecord,
  keys: ReadonlySet<string>,
  state: ClosedState = "closed",
  deliveredAt?: number,
): { readonly record: TaskRecord; readonly dropPayloads: readonly PayloadName[] } => {
  if (keys.size === 0) return { record, dropPayloads: [] };
  const closing = record.questions.filter((question) => keys.has(question.key));
  const questions = record.questions.map((question) =>
    keys.has(question.key) ? toClosed(question, state, deliveredAt) : question,
  );
  const ended = questions.filter((question) => question.state !== "open" && question.state !== "answered");
  const forgotten = new Set(ended.slice(0, Math.max(0, ended.length - maxClosed)));
  const kept = keepEffects(
    { ...record, questions: questions.filter((question) => !forgotten.has(question)) },
    (effect) => (effect.kind === "heartbeat" ? !keys.has(effect.questionKey) : true),
  );
  return {
    record: kept,
    dropPayloads: closing.flatMap(({ secretKey }) => (secretKey === undefined ? [] : [`secret:${secretKey}` as const])),
  };
};

/** Withdraws every question, with the answers still on their way. */
export const closeAllQuestions = (
  record: TaskRecord,
): { readonly record: TaskRecord; readonly dropPayloads: readonly PayloadName[] } => {
  const pending = record.questions.filter((question) => question.state === "open" || question.state === "answered");
  const answers = record.effects.flatMap((effect) =>
    effect.kind === "answer" ? [`answer:${effect.answerId}` as const] : [],
  );
  const closed = closeQuestions(record, new Set(pending.map((question) => question.key)));
  return {
    record: keepEffects(closed.record, (effect) => effect.kind !== "answer" && effect.kind !== "heartbeat"),
    dropPayloads: [...closed.dropPayloads, ...answers],
  };
};

/** Gives a question to clients under a key that was never used in this task. */
export const mintQuestion = (
  record: TaskRecord,
  asked: Omit<TaskQuestion, "key" | "state" | "askedAt" | "expiresAt" | "claim">,
  now: number,
  expiresAt: number | undefined,
): TaskRecord => {
  const minted = record.minted + 1;
  const key = `q${minted}`;
  const limit = record.policy.questionTimeoutMs === null ? undefined : now + record.policy.questionTimeoutMs;
  const endsAt = limit === undefined ? expiresAt : Math.min(limit, expiresAt ?? limit);
  const question: TaskQuestion = {
    ...asked,
    key,
    state: "open",
    askedAt: now,
    ...(endsAt === undefined ? {} : { expiresAt: endsAt }),
  };
  const added: TaskRecord = { ...record, minted, questions: [...record.questions, question] };
  if (asked.heartbeatMs === undefined) return added;
  const everyMs = Math.max(100, Math.floor(asked.heartbeatMs / 3));
  return withEffect(added, { kind: "heartbeat", questionKey: key, everyMs }, now + everyMs);
};

/**
 * Brings the questions of a record in line with those that the execution has open. One is recognised by the adapter's
 * identity for it, so a stale look neither asks twice nor reopens what was answered. One that a look still sees long after its
 * answer was delivered is asked again.
 *
 * `inspectedAt`: when the look began that told them. Only a look that began after a question was asked can tell that it is
 * withdrawn: news, and a look that was slow, may be older than the question.
 */
export const mergeQuestions = (
  record: TaskRecord,
  asked: readonly ExecutionQuestion[],
  now: number,
  { maxReasks, inspectedAt }: { readonly maxReasks: number; readonly inspectedAt: number | undefined },
): {
  readonly record: TaskRecord;
  readonly payloads: readonly Payload[];
  readonly dropPayloads: readonly PayloadName[];
  readonly secrets: readonly NewSecret[];
} => {
  const stillAsked = new Set(asked.map((question) => question.id));
  const withdrawn = new Set(
    openQuestions(record.questions)
      .filter((question) => !stillAsked.has(question.questionId) && question.askedAt < (inspectedAt ?? 0))
      .map((question) => question.key),
  );
  const closed = closeQuestions(record, withdrawn, "withdrawn");
  const secrets: NewSecret[] = [];
  let next = closed.record;
  for (const question of asked) {
    const before = next.questions.findLast((known) => known.questionId === question.id);
    const isAnswerLost = before?.deliveredAt !== undefined && (inspectedAt ?? 0) - before.deliveredAt >= lostAnswerMs;
    const isUnanswered = before?.state === "undelivered" || isAnswerLost;
    if (before !== undefined && !isUnanswered && before.state !== "withdrawn") continue;
    const reasks = (before?.reasks ?? 0) + (isUnanswered ? 1 : 0);
    if (reasks > maxReasks) continue;
    if (openQuestions(next.questions).length >= maxOpen) break;
    if (
      weightOf(question) + openQuestions(next.questions).reduce((sum, open) => sum + weightOf(open), 0) >
      maxQuestionBytes
    ) {
      next = { ...next, message: `questions of more than ${maxQuestionBytes} bytes cannot be shown` };
      continue;
    }
    // The key that `mintQuestion` gives next.
    const secretKey = question.secret === undefined ? undefined : `q${next.minted + 1}`;
    next = mintQuestion(
      next,
      { ...toAsked(question, reasks), ...(secretKey === undefined ? {} : { secretKey }) },
      now,
      question.expiresAt,
    );
    if (question.secret !== undefined) secrets.push({ name: `secret:${secretKey}`, secret: question.secret });
  }
  return { record: next, payloads: [], dropPayloads: closed.dropPayloads, secrets };
};

const weightOf = (question: Pick<ExecutionQuestion, "message" | "schema" | "url">): number =>
  Buffer.byteLength(JSON.stringify([question.message, question.schema, question.url]));

const toAsked = (
  question: ExecutionQuestion,
  reasks: number,
): Omit<TaskQuestion, "key" | "state" | "askedAt" | "expiresAt" | "claim"> => ({
  questionId: question.id,
  message: question.message,
  ...(question.schema === undefined ? {} : { schema: question.schema }),
  ...(question.url === undefined ? {} : { url: question.url }),
  ...(question.heartbeatMs === undefined ? {} : { heartbeatMs: question.heartbeatMs }),
  reasks,
});

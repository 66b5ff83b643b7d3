import { BridgeError } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import type { JsonObject } from "../../contract/json-value.ts";
import { invalidInput } from "../../contract/misconfigured.ts";
import type { TaskQuestion, TaskRecord } from "../../contract/task-record.ts";
import type { Payload } from "../../contract/task-store.ts";
import { requireAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { type Access, requireVisible } from "../context/ownership.ts";
import type { AnswerReport } from "../context/task-engine.ts";
import type { GivenAnswer } from "../context/tool-definition.ts";
import type { JsonCheck } from "../context/validate-json.ts";
import { claimMs, withClaimedEffect, withEffect } from "../state/effects.ts";
import { closeQuestions, mintQuestion, openQuestions } from "../state/questions.ts";
import { resolveTask } from "../state/resolve-task.ts";
import { reviseTask } from "../state/revise-task.ts";

/** Takes answers to open questions: see `TaskEngine.answerTask`. */
export const answerTask = async (
  engine: EngineContext,
  id: unknown,
  access: Access,
  answers: Readonly<Record<string, GivenAnswer>>,
): Promise<AnswerReport> => {
  const known = await resolveTask(engine, id, access);
  let report: AnswerReport = { accepted: [], askedAgain: [], ignored: Object.keys(answers) };
  let before = known;
  const after = await reviseTask(
    engine,
    known.taskId,
    (record) => {
      before = record;
      const drafted = draftAnswers(engine, requireVisible(record, access), answers);
      report = drafted.report;
      return drafted.report.accepted.length + drafted.report.askedAgain.length === 0
        ? undefined
        : { record: drafted.record, payloads: drafted.payloads };
    },
    known,
  );
  if (after === undefined) throw requireVisible(undefined, access);
  if (after !== before) {
    const mine = after.effects.filter(
      (effect) => effect.kind === "answer" && !before.effects.some((earlier) => earlier.id === effect.id),
    );
    for (const effect of mine) engine.runSoon(after, effect);
  }
  return report;
};

interface DraftedAnswers {
  readonly record: TaskRecord;
  readonly payloads: readonly Payload[];
  readonly report: AnswerReport;
}

const draftAnswers = (
  engine: EngineContext,
  record: TaskRecord,
  answers: Readonly<Record<string, GivenAnswer>>,
): DraftedAnswers => {
  const open = new Map(openQuestions(record.questions).map((question) => [question.key, question]));
  const accepted: string[] = [];
  const askedAgain: string[] = [];
  const ignored: string[] = [];
  let draft: { record: TaskRecord; payloads: readonly Payload[] } = { record, payloads: [] };
  for (const [key, answer] of Object.entries(answers)) {
    const question = isEnded(record.state) ? undefined : open.get(key);
    if (question === undefined) {
      ignored.push(key);
      continue;
    }
    requireFitting(engine, question, answer);
    if (answer.action === "cancel" && question.reasks < engine.limits.maxReasks) {
      askedAgain.push(key);
      draft = { ...draft, record: askAgain(engine, draft.record, question) };
      continue;
    }
    requireAnswerable(engine, record);
    accepted.push(key);
    draft = answerOpenQuestion(engine, draft, question, answer, true);
  }
  return { ...draft, report: { accepted, askedAgain, ignored } };
};

const requireAnswerable = (engine: EngineContext, record: TaskRecord): void => {
  if (requireAdapter(engine, record.adapterId).answer === undefined) {
    throw new BridgeError("unsupported", "this backend takes no answers", {
      adapterId: record.adapterId,
      operation: "answer",
    });
  }
};

const requireFitting = (engine: EngineContext, question: TaskQuestion, answer: GivenAnswer): void => {
  if (answer.action !== "accept" || question.schema === undefined) return;
  const fault = questionCheck(engine, question.schema)(answer.content);
  if (fault !== undefined) throw invalidInput(`${question.key}.content`, fault);
};

/** A schema that a job got wrong must not make its question unanswerable: the job then gets the content unchecked. */
const questionCheck = (engine: EngineContext, schema: JsonObject): JsonCheck => {
  try {
    return engine.check(schema, "schema");
  } catch {
    return () => undefined;
  }
};

const askAgain = (engine: EngineContext, record: TaskRecord, question: TaskQuestion): TaskRecord => {
  const { key: _key, state: _state, askedAt: _askedAt, claim: _claim, expiresAt, ...asked } = question;
  // Its secret stays where it is: the new one points to it.
  const closed = closeQuestions(record, new Set([question.key])).record;
  const now = engine.store.now();
  return { ...mintQuestion(closed, { ...asked, reasks: question.reasks + 1 }, now, expiresAt), updatedAt: now };
};

/** Writes an answer into the outbox. `isClaimed`: this process carries it out at once. */
export const answerOpenQuestion = (
  engine: EngineContext,
  draft: { readonly record: TaskRecord; readonly payloads: readonly Payload[] },
  question: TaskQuestion,
  answer: GivenAnswer,
  isClaimed: boolean,
): { readonly record: TaskRecord; readonly payloads: readonly Payload[] } => {
  const now = engine.store.now();
  const answerId = `${draft.record.startKey}-${question.key}`;
  const questions = draft.record.questions.map((entry) => {
    if (entry.key !== question.key) return entry;
    const { claim: _claim, ...answered } = entry;
    return { ...answered, state: "answered" as const };
  });
  const state = questions.some((entry) => entry.state === "open") ? "waiting" : "running";
  const queue = isClaimed ? withClaimedEffect : withEffect;
  const notBefore = isClaimed ? now + claimMs("answer", engine.limits.callTimeoutMs) : now;
  const queued = queue(
    { ...draft.record, questions, state, updatedAt: now },
    { kind: "answer", answerId, questionKey: question.key, action: answer.action },
    notBefore,
  );
  const content = answer.action === "accept" && answer.content !== undefined ? JSON.stringify(answer.content) : "";
  return {
    record: queued,
    payloads: [...draft.payloads, { name: `answer:${answerId}`, bytes: Buffer.from(content, "utf8") }],
  };
};

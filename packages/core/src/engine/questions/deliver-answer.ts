import { retryability, toBridgeError } from "../../contract/bridge-error.ts";
import type { ExecutionQuestion } from "../../contract/execution-snapshot.ts";
import type { JsonValue } from "../../contract/json-value.ts";
import type { Effect, TaskQuestion, TaskRecord } from "../../contract/task-record.ts";
import type { AnswerRequest } from "../../contract/workflow-adapter.ts";
import { aboutTask } from "../context/audit.ts";
import { callAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { readWholePayload } from "../context/payloads.ts";
import { delayEffect, retryMs } from "../state/effect-attempt.ts";
import { callMs, maxEffectAttempts, withoutEffect } from "../state/effects.ts";
import { closeQuestions } from "../state/questions.ts";
import { reviseTask } from "../state/revise-task.ts";

type AnswerEffect = Extract<Effect, { kind: "answer" }>;

/** Brings an answer to the backend, once, or reports that it could not be. The question stays answered until then. */
export const deliverAnswer = async (engine: EngineContext, record: TaskRecord, effect: AnswerEffect): Promise<void> => {
  const ref = record.ref;
  const question = record.questions.find((entry) => entry.key === effect.questionKey);
  if (ref === undefined || question === undefined) return settleAnswer(engine, record, effect, "closed");
  try {
    const request = await toRequest(engine, record, effect, question);
    await callAdapter(engine, {
      adapterId: record.adapterId,
      operation: "answer",
      timeoutMs: callMs("answer", engine.limits.callTimeoutMs),
      onTimeout: "outcome_unknown",
      record,
      run: async (adapter, context) => adapter.answer?.(ref, request, context),
    });
  } catch (error) {
    const known = toBridgeError(error);
    if (engine.closing.aborted) return;
    if (retryability[known.code] !== "never" && effect.attempts < maxEffectAttempts) {
      await delayEffect(engine, record, effect, retryMs(engine, effect.attempts, known.retryAfterMs), known.message);
      return;
    }
    engine.audit({
      kind: "answer_rejected",
      ...aboutTask(record),
      message: known.message,
      fields: { key: effect.questionKey },
    });
    // Closed there already: if it was not by us, the next look tells what is asked now.
    const isClosed = known.code === "conflict" || known.code === "not_found";
    return settleAnswer(
      engine,
      record,
      effect,
      isClosed ? "closed" : "undelivered",
      isClosed ? {} : { message: `an answer could not be delivered: ${known.message}` },
    );
  }
  engine.audit({
    kind: "question_answered",
    ...aboutTask(record),
    fields: { key: effect.questionKey, action: effect.action },
  });
  await settleAnswer(engine, record, effect, "closed", { deliveredAt: engine.store.now() });
};

const toRequest = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: AnswerEffect,
  question: TaskQuestion,
): Promise<AnswerRequest> => {
  const content = await readWholePayload(engine, record.taskId, `answer:${effect.answerId}`);
  return {
    answerId: effect.answerId,
    attempt: effect.attempts,
    action: effect.action,
    question: await toExecutionQuestion(engine, record, question),
    ...(content.length === 0 ? {} : { content: JSON.parse(Buffer.from(content).toString("utf8")) as JsonValue }),
  };
};

/** The question as the adapter gave it, with its secret. */
export const toExecutionQuestion = async (
  engine: EngineContext,
  record: TaskRecord,
  question: TaskQuestion,
): Promise<ExecutionQuestion> => {
  const sealed =
    question.secretKey === undefined
      ? undefined
      : await readWholePayload(engine, record.taskId, `secret:${question.secretKey}`);
  return {
    id: question.questionId,
    message: question.message,
    ...(question.schema === undefined ? {} : { schema: question.schema }),
    ...(question.url === undefined ? {} : { url: question.url }),
    ...(question.heartbeatMs === undefined ? {} : { heartbeatMs: question.heartbeatMs }),
    ...(sealed === undefined ? {} : { secret: engine.secrets.open(sealed) }),
  };
};

const settleAnswer = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: AnswerEffect,
  state: "closed" | "undelivered",
  { message, deliveredAt }: { readonly message?: string; readonly deliveredAt?: number } = {},
): Promise<void> => {
  const settled = await reviseTask(engine, record.taskId, (current) => {
    const pending = current.effects.find((entry) => entry.id === effect.id);
    // Withdrawn with its question meanwhile; or sent anew by another process, whose failure is then what counts.
    if (pending === undefined || (state === "undelivered" && pending.attempts !== effect.attempts)) return undefined;
    const closed = closeQuestions(withoutEffect(current, effect.id), new Set([effect.questionKey]), state, deliveredAt);
    const revised =
      message === undefined ? closed.record : { ...closed.record, message, updatedAt: engine.store.now() };
    return { record: revised, dropPayloads: [...closed.dropPayloads, `answer:${effect.answerId}`] };
  });
  if (settled !== undefined) engine.inspectSoon(settled);
};

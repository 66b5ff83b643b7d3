import type { TaskRecord } from "../../contract/task-record.ts";
import { aboutTask } from "../context/audit.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { answerOpenQuestion } from "../questions/answer-task.ts";
import { applyTransition } from "../state/apply-transition.ts";
import { isActionable, withEffect } from "../state/effects.ts";
import { openQuestions } from "../state/questions.ts";
import { reviseTask } from "../state/revise-task.ts";
import { failTask, mustStopAt } from "../state/transitions.ts";
import { isOver, purgeTask } from "./retention.ts";
import { runDueEffect } from "./run-effect.ts";

/** Does everything that is due for one record. */
export const serveDue = async (engine: EngineContext, due: TaskRecord): Promise<void> => {
  let record: TaskRecord | undefined = due;
  const now = engine.store.now();
  if (isOver(record, now)) record = await purgeTask(engine, record);
  if (record !== undefined && hasRunTooLong(record, now)) record = await stopLongRun(engine, record);
  if (
    record !== undefined &&
    openQuestions(record.questions).some((question) => (question.expiresAt ?? Number.POSITIVE_INFINITY) <= now)
  ) {
    record = await timeOutQuestions(engine, record, now);
  }
  if (record === undefined) return;
  const current = record;
  // Asked anew: an effect added above is due at once, and must not wait behind all that was due before.
  const dueBy = engine.store.now();
  const effects = current.effects.filter((effect) => effect.notBefore <= dueBy && isActionable(current, effect));
  await Promise.all(effects.map((effect) => runDueEffect(engine, current, effect.id)));
};

const hasRunTooLong = (record: TaskRecord, now: number): boolean =>
  (mustStopAt(record) ?? Number.POSITIVE_INFINITY) <= now;

const stopLongRun = (engine: EngineContext, record: TaskRecord): Promise<TaskRecord | undefined> =>
  applyTransition(
    engine,
    record.taskId,
    (current) => {
      const now = engine.store.now();
      if (!hasRunTooLong(current, now)) return undefined;
      const reason = `stopped: it ran longer than the ${current.policy.maxRunMs} ms that this tool allows`;
      const isRunning =
        current.slotHeld && (current.ref !== undefined || current.effects.some((effect) => effect.kind === "start"));
      const failed = failTask(current, "max_run", reason, now, isRunning);
      const isReported =
        current.effects.some((effect) => effect.kind === "cancel") || current.cancel?.deliveredAt !== undefined;
      return isRunning && !isReported
        ? { ...failed, record: withEffect(failed.record, { kind: "cancel", reason }, now) }
        : failed;
    },
    record,
  );

const timeOutQuestions = (engine: EngineContext, record: TaskRecord, now: number): Promise<TaskRecord | undefined> =>
  reviseTask(
    engine,
    record.taskId,
    (current) => {
      const late = openQuestions(current.questions).filter(
        (question) => (question.expiresAt ?? Number.POSITIVE_INFINITY) <= now,
      );
      if (late.length === 0) return undefined;
      engine.audit({
        kind: "question_timed_out",
        ...aboutTask(current),
        fields: { keys: late.map((question) => question.key) },
      });
      return late.reduce(
        (draft, question) => answerOpenQuestion(engine, draft, question, { action: "cancel" }, false),
        { record: current, payloads: [] } as ReturnType<typeof answerOpenQuestion>,
      );
    },
    record,
  );

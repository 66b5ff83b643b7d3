import { isDeepStrictEqual } from "node:util";
import { type ExecutionSnapshot, isEnded } from "../../contract/execution-snapshot.ts";
import type { ExecutionRef, TaskId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import { aboutTask } from "../context/audit.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { assertSnapshot } from "./check-snapshot.ts";
import { openQuestions } from "./questions.ts";
import { type Draft, reviseTask } from "./revise-task.ts";
import { applySnapshot, type Transition } from "./transitions.ts";

/** The write that a transition needs; undefined when it changes nothing. */
const toDraft = (engine: EngineContext, before: TaskRecord, transition: Transition): Draft | undefined => {
  if (transition.record === before || isDeepStrictEqual(transition.record, before)) return undefined;
  const sealed = transition.secrets.map(({ name, secret }) => ({ name, bytes: engine.secrets.seal(secret) }));
  return {
    record: transition.record,
    payloads: [...transition.payloads, ...sealed],
    dropPayloads: transition.dropPayloads,
    // What only describes progress is seen again with the next look.
    durable:
      transition.record.state !== before.state ||
      transition.record.effects !== before.effects ||
      transition.record.questions !== before.questions,
  };
};

/** Applies a transition to whatever the record is by then, and tells the audit what came of it. */
export const applyTransition = async (
  engine: EngineContext,
  taskId: TaskId,
  transit: (record: TaskRecord) => Transition | undefined,
  known?: TaskRecord,
): Promise<TaskRecord | undefined> => {
  let before: TaskRecord | undefined;
  const after = await reviseTask(
    engine,
    taskId,
    (record) => {
      before = record;
      const transition = transit(record);
      return transition === undefined ? undefined : toDraft(engine, record, transition);
    },
    known,
  );
  if (before !== undefined && after !== undefined && after !== before) auditChange(engine, before, after);
  return after;
};

/**
 * Takes in what was seen of an execution, by a look or by news. `evolved`: what its ref has become by a look at the ref that `record`
 * has, unless another look has told that meanwhile.
 */
export const reviseFromSnapshot = (
  engine: EngineContext,
  record: TaskRecord,
  snapshot: ExecutionSnapshot,
  { evolved, inspectedAt }: { readonly evolved?: ExecutionRef | undefined; readonly inspectedAt?: number | undefined },
): Promise<TaskRecord | undefined> =>
  applyTransition(
    engine,
    record.taskId,
    (current) => {
      assertSnapshot(current, snapshot);
      const referred = evolved === undefined || current.ref !== record.ref ? current : { ...current, ref: evolved };
      return applySnapshot(referred, snapshot, engine.store.now(), engine.limits.maxReasks, inspectedAt);
    },
    record,
  );

const auditChange = (engine: EngineContext, before: TaskRecord, after: TaskRecord): void => {
  if (!isEnded(before.state) && isEnded(after.state)) {
    engine.runTimes.note(after);
    engine.audit({
      kind: "task_ended",
      ...aboutTask(after),
      message: after.message ?? after.state,
      fields: { state: after.state, failure: after.failure?.code },
    });
  } else if (
    isEnded(before.state) &&
    after.execution !== undefined &&
    isEnded(after.execution.status) &&
    after.execution.status !== before.execution?.status
  ) {
    engine.audit({
      kind: "late_outcome",
      ...aboutTask(after),
      message: `the task was ${after.state}; the execution ended as ${after.execution.status}`,
    });
  }
  const known = new Set(before.questions.map((question) => question.key));
  for (const question of openQuestions(after.questions)) {
    if (!known.has(question.key))
      engine.audit({ kind: "question_asked", ...aboutTask(after), fields: { key: question.key } });
  }
};

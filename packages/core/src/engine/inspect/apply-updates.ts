import { isEnded } from "../../contract/execution-snapshot.ts";
import type { AdapterId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { ExecutionUpdate } from "../../contract/workflow-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { saveStarted } from "../start/start-execution.ts";
import { reviseFromSnapshot } from "../state/apply-transition.ts";
import { openQuestions } from "../state/questions.ts";
import { hasExecutionEnded } from "../state/transitions.ts";

/** Puts news from a backend into the records it is about. News that fits no task is told to the audit and dropped. */
export const applyUpdates = async (
  engine: EngineContext,
  adapterId: AdapterId,
  updates: readonly ExecutionUpdate[],
): Promise<void> => {
  const byExecution = new Map<string | undefined, ExecutionUpdate[]>();
  for (const update of updates) {
    const name = update.key ?? update.ref;
    byExecution.set(name, [...(byExecution.get(name) ?? []), update]);
  }
  // Side by side, so that a store can write them down together; but for later news of one execution, which supersedes earlier.
  const results = await Promise.allSettled(
    [...byExecution.values()].map(async (updatesOfOne) => {
      for (const update of updatesOfOne) await receiveUpdate(engine, adapterId, update);
    }),
  );
  const failed = results.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
};

const receiveUpdate = async (engine: EngineContext, adapterId: AdapterId, update: ExecutionUpdate): Promise<void> => {
  const record = await findRecord(engine, adapterId, update);
  if (record !== undefined) return applyUpdate(engine, record, update);
  engine.audit({
    kind: "unmatched_update",
    adapterId,
    message: "news about an execution that belongs to no task",
    ...(update.ref === undefined ? {} : { execution: update.ref }),
  });
};

const findRecord = async (
  engine: EngineContext,
  adapterId: AdapterId,
  update: ExecutionUpdate,
): Promise<TaskRecord | undefined> => {
  // Beside a key that is not ours a ref proves nothing: a backend that counts anew gives an old one to another's execution.
  if (update.key !== undefined) return engine.store.findByExecution(adapterId, { key: update.key });
  return update.ref === undefined ? undefined : engine.store.findByExecution(adapterId, { ref: update.ref });
};

const applyUpdate = async (engine: EngineContext, record: TaskRecord, update: ExecutionUpdate): Promise<void> => {
  if (record.ref === undefined && update.ref !== undefined) {
    // The news overtook, or replaces, the answer to the start.
    await saveStarted(engine, record, {
      ref: update.ref,
      ...(update.snapshot === undefined ? {} : { snapshot: update.snapshot }),
    });
    return;
  }
  // Nothing that is told of it now is worth a look.
  if (hasExecutionEnded(record) && (update.snapshot === undefined || !isEnded(update.snapshot.status))) return;
  // Nor is what is told under another ref taken for its own: a namesake's, or, where refs evolve, something that a look tells.
  if (update.snapshot === undefined || (update.ref ?? record.ref) !== record.ref) {
    engine.inspectSoon(record);
    return;
  }
  // Events come late and out of order: one that says less than an end is only a reason to look.
  if (isEnded(update.snapshot.status) || !isOlder(record, update))
    await reviseFromSnapshot(engine, record, update.snapshot, trustOf(engine, record));
  else engine.inspectSoon(record);
  if (lacksQuestion(record, update)) engine.inspectSoon(record);
};

/** Where nobody can look, news must be taken as if it were a look. */
const trustOf = (engine: EngineContext, record: TaskRecord): { readonly inspectedAt?: number } =>
  engine.adapters.get(record.adapterId)?.inspect === undefined ? { inspectedAt: engine.store.now() } : {};

/** Perhaps a question was withdrawn, perhaps the news is older than the question: a look tells. */
const lacksQuestion = (record: TaskRecord, { snapshot }: ExecutionUpdate): boolean => {
  const asked = new Set(snapshot?.questions?.map(({ id }) => id));
  return (
    snapshot?.questions !== undefined &&
    openQuestions(record.questions).some(({ questionId }) => !asked.has(questionId))
  );
};

const rank = { queued: 0, running: 1, waiting: 1, succeeded: 2, failed: 2, cancelled: 2 } as const;

const isOlder = (record: TaskRecord, update: ExecutionUpdate): boolean => {
  const before = record.execution;
  const snapshot = update.snapshot;
  if (before === undefined || snapshot === undefined) return false;
  if (rank[snapshot.status] < rank[before.status]) return true;
  return (snapshot.progress?.done ?? Number.POSITIVE_INFINITY) < (before.progress?.done ?? 0);
};

import { isEnded } from "../../contract/execution-snapshot.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import { aboutTask } from "../context/audit.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { type Access, requireVisible } from "../context/ownership.ts";
import { applyTransition } from "./apply-transition.ts";
import { claimMs, keepEffects, withClaimedEffect } from "./effects.ts";
import { closeAllQuestions } from "./questions.ts";
import { resolveTask } from "./resolve-task.ts";
import { endTask, type Transition } from "./transitions.ts";

export interface CancelOptions {
  readonly reason: string;
  readonly isFinal: boolean;
}

/** Asks the backend to stop: see `TaskEngine.cancelTask`. */
export const cancelTask = async (
  engine: EngineContext,
  id: unknown,
  access: Access,
  options: CancelOptions,
): Promise<TaskRecord> => {
  return cancelKnown(engine, await resolveTask(engine, id, access), access, options);
};

/** Likewise, for a record that was read just now. */
export const cancelKnown = async (
  engine: EngineContext,
  known: TaskRecord,
  access: Access,
  options: CancelOptions,
): Promise<TaskRecord> => {
  // A stop that was asked for before and is due again, by whichever process that asked, is sent by this one.
  if (isEnded(known.state) || known.cancel !== undefined) engine.serveSoon(known);
  if (isEnded(known.state)) return known;
  let before = known;
  const after = await applyTransition(
    engine,
    known.taskId,
    (record) => {
      before = record;
      return cancelTransition(engine, requireVisible(record, access), options);
    },
    known,
  );
  const visible = requireVisible(after, access);
  if (visible !== before) {
    engine.audit({ kind: "cancel_requested", ...aboutTask(visible), message: options.reason });
    const mine = visible.effects.find(
      (effect) => effect.kind === "cancel" && !before.effects.some((earlier) => earlier.id === effect.id),
    );
    if (mine !== undefined && visible.ref !== undefined) engine.runSoon(visible, mine);
  }
  return visible;
};

/** One stop is sent however many ask for it; a later request that must latch only ends the task. */
const cancelTransition = (
  engine: EngineContext,
  record: TaskRecord,
  options: CancelOptions,
): Transition | undefined => {
  if (isEnded(record.state)) return undefined;
  const isFirst = record.cancel === undefined;
  if (!isFirst && (!options.isFinal || record.cancel?.isFinal === true)) return undefined;
  const now = engine.store.now();
  const requested: TaskRecord = {
    ...record,
    cancel: {
      ...record.cancel,
      requestedAt: record.cancel?.requestedAt ?? now,
      reason: options.reason.slice(0, 300),
      isFinal: options.isFinal,
    },
  };
  const start = requested.effects.find((effect) => effect.kind === "start");
  const neverSent = start !== undefined && requested.start.firstSentAt === undefined;
  if (neverSent) {
    const dropped = keepEffects(requested, (effect) => effect.kind !== "start");
    return endTask(dropped, { state: "cancelled", message: options.reason, slotHeld: false }, now);
  }
  // Once the backend has ended there is nothing to stop: only the output is still being fetched.
  const hasEnded = record.execution !== undefined && isEnded(record.execution.status);
  const { record: closed, dropPayloads } = closeAllQuestions({
    ...requested,
    state: requested.state === "waiting" ? "running" : requested.state,
  });
  // Without a ref the entry waits, unclaimed, until there is one.
  const until = closed.ref === undefined ? now : now + claimMs("cancel", engine.limits.callTimeoutMs);
  const queued =
    isFirst && !hasEnded
      ? withClaimedEffect(closed, { kind: "cancel", reason: options.reason.slice(0, 200) }, until)
      : closed;
  if (!options.isFinal)
    return {
      record: { ...queued, message: "a stop was asked for", updatedAt: now },
      payloads: [],
      dropPayloads,
      secrets: [],
    };
  const ended = endTask(queued, { state: "cancelled", message: options.reason, slotHeld: queued.slotHeld }, now);
  return { ...ended, dropPayloads: [...dropPayloads, ...ended.dropPayloads] };
};

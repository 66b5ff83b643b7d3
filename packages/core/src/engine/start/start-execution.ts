import { BridgeError, toBridgeError } from "../../contract/bridge-error.ts";
import { isEnded } from "../../contract/execution-snapshot.ts";
import type { AdapterId, ExecutionRef } from "../../contract/identity.ts";
import type { JsonObject } from "../../contract/json-value.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { StartOutcome, StartPromise, WorkflowAdapter } from "../../contract/workflow-adapter.ts";
import { aboutTask } from "../context/audit.ts";
import { callAdapter, requireAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { readInput } from "../context/payloads.ts";
import { untilStored } from "../context/until-stored.ts";
import { applyTransition } from "../state/apply-transition.ts";
import { assertSnapshot } from "../state/check-snapshot.ts";
import { callMs, keepEffects, withEffect } from "../state/effects.ts";
import { applySnapshot, hasExecutionEnded, type Transition } from "../state/transitions.ts";
import { applyStartError, type StartEffect, type StartResult } from "./apply-start-error.ts";
import { fillTemplate } from "./fill-template.ts";

/** Sends a start for the first time. The record was created with the note that this send may have arrived. */
export const sendFirst = (engine: EngineContext, record: TaskRecord, effect: StartEffect): Promise<StartResult> =>
  sendStart(engine, record, effect, requireAdapter(engine, record.adapterId).traits.start);

/**
 * Sends a start, which the record must already reckon with, and writes down what comes of it: the ref, a later attempt, or
 * an end.
 */
export const sendStart = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: StartEffect,
  promise: StartPromise,
): Promise<StartResult> => {
  const input = await untilStored(engine, readForMs, () => readInput(engine, record.taskId));
  // Held up until another process may have drawn its conclusions: they must stay true.
  if (input === undefined || engine.store.now() >= effect.notBefore) return undefined;
  let outcome: StartOutcome;
  try {
    outcome = await callAdapter(engine, {
      adapterId: record.adapterId,
      operation: "start",
      onTimeout: "outcome_unknown",
      record,
      run: (adapter, context) => {
        const target = toTarget(adapter, record, input);
        const request = { key: record.startKey, target, input, attempt: effect.attempts };
        return adapter.start({ ...request, ...earlierSend(record) }, context);
      },
      // Whatever was concluded meanwhile: it runs.
      applyLate: (late) => saveWithRetry(engine, record, late),
    });
  } catch (error) {
    if (engine.closing.aborted) return undefined;
    return applyStartError(engine, record, effect, toBridgeError(error), promise);
  }
  await saveWithRetry(engine, record, outcome);
  return undefined;
};

/** How long a store that is away is waited for before anything is sent (milliseconds). */
const readForMs = 5_000;
/** How long a store that is away is waited for (milliseconds), so that a ref is not lost that only this process knows. */
const saveForMs = 600_000;

const saveWithRetry = (engine: EngineContext, record: TaskRecord, outcome: StartOutcome): Promise<void> =>
  untilStored(engine, saveForMs, () => saveStarted(engine, record, outcome));

/** Of a record that is marked with the send at hand: when it was first sent before that. */
const earlierSend = ({ start }: TaskRecord): { readonly firstSentAt?: number } =>
  start.firstSentAt === undefined || start.firstSentAt === start.lastSentAt ? {} : { firstSentAt: start.firstSentAt };

/**
 * The target with the input's values filled in. The adapter took it as it was configured, so what it refuses now is the
 * caller's.
 */
export const toTarget = (adapter: WorkflowAdapter, record: TaskRecord, input: string): unknown => {
  const filled = fillTemplate(record.target, JSON.parse(input) as JsonObject);
  try {
    return adapter.parseTarget(filled);
  } catch (error) {
    const known = toBridgeError(error);
    throw new BridgeError("invalid_input", `with these arguments the target is refused: ${known.message}`, {
      notSent: true,
      ...(known.data === undefined ? {} : { data: known.data }),
      cause: error,
    });
  }
};

/** Saves the ref whatever has happened meanwhile. An execution that nobody wants any more is stopped by an effect. */
export const saveStarted = async (
  engine: EngineContext,
  record: Pick<TaskRecord, "taskId" | "adapterId">,
  outcome: StartOutcome,
): Promise<void> => {
  let isNew = false;
  const saved = await applyTransition(engine, record.taskId, (current) => {
    isNew = current.ref === undefined;
    return startedTransition(engine, current, withUsableSnapshot(engine, current, outcome));
  });
  if (saved !== undefined) {
    if (isNew) engine.audit({ kind: "start_accepted", ...aboutTask(saved) });
    if (saved.ref !== outcome.ref) engine.inspectSoon(saved);
    // A stop that waited for the ref.
    if (saved.effects.some(({ kind }) => kind === "cancel")) engine.serveSoon(saved);
    return;
  }
  engine.audit({
    kind: "unmatched_update",
    ...record,
    execution: outcome.ref,
    message: "the backend accepted the start of a task that was removed meanwhile",
  });
  await stopUnrecorded(engine, record.adapterId, outcome.ref);
};

/** A ref is worth keeping whatever stands beside it. */
const withUsableSnapshot = (engine: EngineContext, record: TaskRecord, outcome: StartOutcome): StartOutcome => {
  if (outcome.snapshot === undefined) return outcome;
  try {
    assertSnapshot(record, outcome.snapshot);
    return outcome;
  } catch (error) {
    engine.audit({ kind: "internal_error", ...aboutTask(record), message: toBridgeError(error).message });
    return { ref: outcome.ref };
  }
};

const startedTransition = (engine: EngineContext, current: TaskRecord, { ref, snapshot }: StartOutcome): Transition => {
  const isNew = current.ref === undefined;
  const now = engine.store.now();
  // The first one stays: another is an older form of it, or that of a second execution, which only a restart may start.
  const referred: TaskRecord = {
    ...keepEffects(current, ({ kind }) => kind !== "start"),
    ref: current.ref ?? ref,
  };
  const isAboutIt = snapshot !== undefined && referred.ref === ref;
  // What news has told already is younger than the answer to the start, unless that tells an end.
  const { record: seen, ...rest } =
    isAboutIt && (current.execution === undefined || isEnded(snapshot.status))
      ? applySnapshot(referred, snapshot, now, engine.limits.maxReasks)
      : { record: referred, payloads: [], dropPayloads: [], secrets: [] };
  // A slot that was given back for want of a ref is taken again.
  const mayRun = seen.slotHeld || (isNew && !hasExecutionEnded(seen));
  const isUnwanted = mayRun && (isEnded(seen.state) || seen.cancel !== undefined);
  if (!isUnwanted || seen.effects.some(({ kind }) => kind === "cancel")) return { ...rest, record: seen };
  const held: TaskRecord = { ...keepEffects(seen, ({ kind }) => kind !== "forget"), slotHeld: true };
  const reason = seen.cancel?.reason ?? "the task has ended";
  return { ...rest, record: withEffect(held, { kind: "cancel", reason }, now) };
};

/** No record is left to hold an effect, so this one try must do. */
const stopUnrecorded = async (engine: EngineContext, adapterId: AdapterId, ref: ExecutionRef): Promise<void> => {
  try {
    await callAdapter(engine, {
      adapterId,
      operation: "cancel",
      timeoutMs: callMs("cancel", engine.limits.callTimeoutMs),
      onTimeout: "outcome_unknown",
      run: async (adapter, context) => adapter.cancel?.(ref, "its task was removed", context),
    });
  } catch (error) {
    engine.audit({ kind: "effect_dropped", adapterId, execution: ref, message: toBridgeError(error).message });
  }
};

import { BridgeError, retryability, toBridgeError, toPublicMessage } from "../../contract/bridge-error.ts";
import type { TaskId } from "../../contract/identity.ts";
import type { Effect, PayloadName, TaskRecord } from "../../contract/task-record.ts";
import { callAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { applyTransition } from "../state/apply-transition.ts";
import { isOurAttempt } from "../state/effect-attempt.ts";
import { backOffMs, claimMs, withEffectDelayed, withoutEffect } from "../state/effects.ts";
import { reviseTask } from "../state/revise-task.ts";
import { endTask, failTask, type Transition } from "../state/transitions.ts";

type CaptureEffect = Extract<Effect, { kind: "capture" }>;

/** Bytes fetched and stored at once: small enough that no single step holds up the event loop. */
const chunkBytes = 262_144;

/** After about an hour of back-off a result that cannot be kept is given up: nobody waits for it for ever. */
const maxCaptureAttempts = 20;

/** Copies an output too large for a snapshot from the backend into the store, then ends the task. */
export const captureOutput = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: CaptureEffect,
): Promise<void> => {
  try {
    const bytes = await copyOutput(engine, record, effect);
    if (bytes === undefined) {
      return await failCapture(
        engine,
        record,
        effect,
        `the result is larger than the ${engine.limits.maxResultBytes} bytes allowed here`,
      );
    }
    await applyTransition(engine, record.taskId, (current) => {
      if (!current.effects.some((entry) => entry.id === effect.id)) return undefined;
      const output = { mediaType: effect.mediaType, bytes, payload: copyOf(effect.attempts) };
      const ended = endTask(
        withoutEffect(current, effect.id),
        { state: "succeeded", output, slotHeld: false },
        engine.store.now(),
      );
      const broken = Array.from({ length: effect.attempts - 1 }, (_, before) => copyOf(before + 1));
      return { ...ended, dropPayloads: [...ended.dropPayloads, ...broken] };
    });
  } catch (error) {
    if (engine.closing.aborted) return;
    const known = toBridgeError(error);
    if (retryability[known.code] === "never" || effect.attempts >= maxCaptureAttempts) {
      return await failCapture(engine, record, effect, `the result could not be fetched: ${toPublicMessage(known)}`);
    }
    await retryCapture(engine, record, effect, known);
  }
};

/** Frees what this attempt has copied, says why the result is not there yet, and lets another attempt come later. */
const retryCapture = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: CaptureEffect,
  error: BridgeError,
): Promise<void> => {
  const waitMs = backOffMs(effect.attempts, 0.5, error.retryAfterMs);
  await reviseTask(engine, record.taskId, (current) => {
    if (!isOurAttempt(current, effect)) return undefined;
    const now = engine.store.now();
    const delayed = withEffectDelayed(current, effect.id, now + waitMs, error.message);
    const message = `it has succeeded, but its result is not kept yet: ${toPublicMessage(error)}`;
    return { record: { ...delayed, message, updatedAt: now }, dropPayloads: [copyOf(effect.attempts)] };
  });
};

/** Where an attempt copies to. A process that was held up writes into no copy but its own. */
const copyOf = (attempt: number): PayloadName => `output:${attempt}`;

const failCapture = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: CaptureEffect,
  text: string,
): Promise<void> => {
  await applyTransition(engine, record.taskId, (current) =>
    // Otherwise another process has taken over, or has succeeded.
    isOurAttempt(current, effect)
      ? withoutCopies(
          failTask(withoutEffect(current, effect.id), "result_unavailable", text, engine.store.now()),
          effect,
        )
      : undefined,
  );
};

const withoutCopies = (failed: Transition, effect: CaptureEffect): Transition => ({
  ...failed,
  dropPayloads: [...failed.dropPayloads, ...Array.from({ length: effect.attempts }, (_, before) => copyOf(before + 1))],
});

/** The number of bytes copied; undefined when there are more than are allowed. */
const copyOutput = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: CaptureEffect,
): Promise<number | undefined> => {
  const ref = record.ref;
  let offset = 0;
  let claimedAt = engine.store.now();
  for (;;) {
    const chunk = await callAdapter(engine, {
      adapterId: record.adapterId,
      operation: "readOutput",
      record,
      run: async (adapter, context) =>
        ref === undefined ? undefined : adapter.readOutput?.(ref, { offset, length: chunkBytes }, context),
    });
    if (chunk === undefined)
      throw new BridgeError("unsupported", "this adapter announces a large output but cannot read it");
    if (chunk.totalBytes > engine.limits.maxResultBytes || offset + chunk.bytes.length > engine.limits.maxResultBytes)
      return undefined;
    if (!(await isWanted(engine, record.taskId, effect))) return offset;
    await engine.store.putPayload(record.taskId, copyOf(effect.attempts), offset, chunk.bytes);
    offset += chunk.bytes.length;
    if (offset >= chunk.totalBytes) return offset;
    if (chunk.bytes.length === 0)
      throw new BridgeError("bad_response", `the output ends after ${offset} of ${chunk.totalBytes} bytes`);
    if (engine.store.now() - claimedAt > engine.limits.callTimeoutMs / 2) {
      claimedAt = engine.store.now();
      await reviseTask(engine, record.taskId, (current) => ({
        record: withEffectDelayed(current, effect.id, claimedAt + claimMs("capture", engine.limits.callTimeoutMs)),
        durable: false,
      }));
    }
  }
};

/** Whether to go on: not once another process has finished, or the task has ended otherwise. */
const isWanted = async (engine: EngineContext, taskId: TaskId, effect: CaptureEffect): Promise<boolean> =>
  (await engine.store.read(taskId))?.effects.some((entry) => entry.id === effect.id) === true;

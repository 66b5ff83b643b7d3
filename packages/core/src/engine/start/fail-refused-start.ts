import type { BridgeError } from "../../contract/bridge-error.ts";
import type { Effect, TaskRecord } from "../../contract/task-record.ts";
import { aboutTask } from "../context/audit.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { withoutEffect } from "../state/effects.ts";
import { concludeStart, failUnstarted, giveUpStart } from "./fail-start.ts";

/** Ends a task whose start the backend refused after the task had been handed out, or has it looked for what an earlier send came to. */
export const failRefusedStart = async (
  engine: EngineContext,
  record: TaskRecord,
  effect: Effect,
  error: BridgeError,
): Promise<void> => {
  engine.audit({ kind: "start_refused", ...aboutTask(record), message: error.message });
  await concludeStart(engine, record, effect, (current) => {
    const text = `the backend refused the start: ${error.message}`;
    // The note of the refused send itself is taken back by then, so this is an earlier one. Where something else has the key, it has not arrived.
    return current.start.firstSentAt === undefined || error.code === "conflict"
      ? failUnstarted(withoutEffect(current, effect.id), "start_refused", text, engine.store.now())
      : giveUpStart(engine, current, effect, text);
  });
};

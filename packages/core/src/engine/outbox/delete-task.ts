import { isEnded } from "../../contract/execution-snapshot.ts";
import type { EngineContext } from "../context/engine-context.ts";
import type { Access } from "../context/ownership.ts";
import { cancelKnown } from "../state/cancel-task.ts";
import { resolveTask } from "../state/resolve-task.ts";
import { expireTask } from "./retention.ts";
import { runDueEffect } from "./run-effect.ts";

/** See `TaskEngine.deleteTask`. */
export const deleteTask = async (engine: EngineContext, id: unknown, access: Access): Promise<void> => {
  const record = await resolveTask(engine, id, access);
  const ended = isEnded(record.state)
    ? record
    : await cancelKnown(engine, record, access, { reason: "deleted by its owner", latch: true });
  const expired = await expireTask(engine, ended, "deleted");
  const forget = expired?.effects.find((effect) => effect.kind === "forget");
  if (expired !== undefined && forget !== undefined) await runDueEffect(engine, expired, forget.id);
};

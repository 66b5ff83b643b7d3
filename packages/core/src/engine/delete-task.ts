import { isEnded } from "../contract/execution-snapshot.ts";
import { cancelTask } from "./cancel-task.ts";
import type { EngineContext } from "./engine-context.ts";
import { type Access, requireVisible } from "./ownership.ts";
import { expireTask } from "./retention.ts";
import { runDueEffect } from "./run-effect.ts";
import { parseTaskId } from "./task-id.ts";

/** See `TaskEngine.deleteTask`. */
export const deleteTask = async (engine: EngineContext, id: unknown, access: Access): Promise<void> => {
  const taskId = parseTaskId(id);
  const record = requireVisible(await engine.store.read(taskId), access);
  const ended = isEnded(record.state)
    ? record
    : await cancelTask(engine, taskId, access, { reason: "deleted by its owner", latch: true });
  const expired = await expireTask(engine, ended, true);
  const forget = expired?.effects.find((effect) => effect.kind === "forget");
  if (expired !== undefined && forget !== undefined) await runDueEffect(engine, expired, forget.id);
};

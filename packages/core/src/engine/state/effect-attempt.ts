import type { Effect, TaskRecord } from "../../contract/task-record.ts";
import { aboutTask } from "../context/audit.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { backOffMs, withEffectDelayed } from "./effects.ts";
import { reviseTask } from "./revise-task.ts";

/** Whether an effect is still in the outbox and no other process has claimed it since. */
export const isOurAttempt = ({ effects }: TaskRecord, effect: Pick<Effect, "id" | "attempts">): boolean =>
  effects.some(({ id, attempts }) => id === effect.id && attempts === effect.attempts);

/** Milliseconds until the next attempt, spread by chance. */
export const retryMs = (engine: EngineContext, attempts: number, retryAfterMs?: number): number =>
  backOffMs(attempts, (engine.random(1)[0] as number) / 255, retryAfterMs);

/** Audits that an attempt failed, or that no further one will be made. */
export const auditAttempt = (
  engine: EngineContext,
  kind: "effect_failed" | "effect_dropped",
  record: TaskRecord,
  { kind: effect, attempts: attempt }: { readonly kind: string; readonly attempts: number },
  { message }: { readonly message: string },
): void => engine.audit({ kind, ...aboutTask(record), message, fields: { effect, attempt } });

/** Puts an effect off by `waitMs`, remembering the error. */
export const delayEffect = (
  engine: EngineContext,
  { taskId }: TaskRecord,
  { id }: Effect,
  waitMs: number,
  error?: string,
): Promise<TaskRecord | undefined> =>
  reviseTask(engine, taskId, (current) => ({
    record: withEffectDelayed(current, id, engine.store.now() + waitMs, error),
  }));

import type { CreatedTask, ResolvedTool, TaskView } from "@taskbridge/core";
import { toAccess } from "../caller.ts";
import type { CallLifetime } from "./call-lifetime.ts";
import type { Caller, ServeContext } from "./serve-context.ts";

export interface StartingCall {
  readonly context: ServeContext;
  readonly caller: Pick<Caller, "owner">;
  readonly tool: ResolvedTool;
  readonly lifetime: CallLifetime;
}

/** What a task is made of, beside its tool and its owner. */
interface WantedTask {
  readonly input: unknown;
  readonly taskId?: string;
  readonly retentionMs?: number;
  readonly origin?: string;
}

/** A task that is shared by repeated calls is not stopped because one of its callers goes away. */
const isShared = (tool: ResolvedTool): boolean => tool.task.dedupeWindowMs > 0;

/** The engine's signal must be silent once the task is there, while the call may go on waiting. */
export const createTask = async (
  { context, caller, tool, lifetime }: StartingCall,
  wanted: WantedTask,
): Promise<CreatedTask> => {
  const starting = new AbortController();
  const giveUp = (): void => starting.abort();
  if (lifetime.gone.aborted) giveUp();
  lifetime.gone.addEventListener("abort", giveUp, { once: true });
  try {
    // Under an ID of its own a call shares nothing.
    const signal = isShared(tool) && wanted.taskId === undefined ? {} : { signal: starting.signal };
    return await context.engine.createTask({ ...wanted, tool: tool.name, owner: caller.owner, ...signal });
  } finally {
    lifetime.gone.removeEventListener("abort", giveUp);
  }
};

/** Whoever is gone before the answer never learns of the task: nobody would ever read it. */
export const stopIfGone = async ({ context, caller, tool, lifetime }: StartingCall, view: TaskView): Promise<void> => {
  if (!lifetime.gone.aborted || isShared(tool)) return;
  await context.engine.cancelTask(view.record.taskId, toAccess(caller.owner), {
    reason: "the caller was gone before the answer",
    isFinal: false,
  });
};

import { isBridgeError, type TaskView } from "@taskbridge/core";
import {
  type CallerCapabilities,
  toDetailedTask,
  toTaskNotification,
  type WireMessage,
} from "@taskbridge/protocol/tasks-2026-07-28";
import { type Owner, toAccess } from "../caller.ts";
import type { ServeContext } from "../mcp/serve-context.ts";
import { hasEnded } from "../mcp/wait-for-answer.ts";

/** The tasks of one subscription, as notifications that a reader takes at its own pace. */
export interface TaskFeed {
  /** The tasks that are followed. Those of others and unknown ones are not among them. */
  readonly taskIds: readonly string[];
  /** The next notification; undefined: none at present. */
  take(): WireMessage | undefined;
  /** True once every task has ended, expired or been removed, and that was taken. */
  isOver(): boolean;
  stop(): void;
}

export interface FeedRequest {
  readonly subscriptionId: string | number;
  readonly taskIds: readonly string[];
  readonly owner: Owner;
  /** Of this subscription: what it may be asked. */
  readonly capabilities: CallerCapabilities;
  /** Called when `take` or `isOver` may say something new. */
  readonly wake: () => void;
}

/**
 * Follows tasks for one subscription. For each task only the newest state waits to be taken, so that a slow reader costs
 * no more than one state per task.
 */
export const openTaskFeed = async (context: ServeContext, request: FeedRequest): Promise<TaskFeed> => {
  const open = new Set<string>();
  const waiting = new Map<string, TaskView>();
  const sent = new Map<string, string>();
  const stops: (() => void)[] = [];
  let isStopped = false;

  const observe = (view: TaskView): void => {
    if (isStopped || !open.has(view.record.taskId)) return;
    waiting.set(view.record.taskId, view);
    request.wake();
  };
  const forget = (taskId: string): void => {
    open.delete(taskId);
    waiting.delete(taskId);
    sent.delete(taskId);
    request.wake();
  };
  const follow = async (taskId: string): Promise<string | undefined> => {
    open.add(taskId);
    try {
      const { stop } = await context.engine.followTask(taskId, toAccess(request.owner), observe, () => forget(taskId));
      stops.push(stop);
      return taskId;
    } catch (error) {
      open.delete(taskId);
      if (isBridgeError(error) && error.code === "not_found") return undefined;
      throw error;
    }
  };
  const stop = (): void => {
    isStopped = true;
    for (const end of stops.splice(0)) end();
    open.clear();
    waiting.clear();
    sent.clear();
  };
  const followed = await Promise.allSettled(request.taskIds.map(follow));
  const failed = followed.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) {
    stop();
    throw failed.reason;
  }

  /** Undefined when the reader has seen just this: revisions also move for reasons that do not show. */
  const toUpdate = (view: TaskView): WireMessage | undefined => {
    const { taskId, tool } = view.record;
    const task = toDetailedTask(view, request.capabilities, context.catalog.expectation(tool));
    const text = JSON.stringify(task);
    if (sent.get(taskId) === text) return undefined;
    sent.set(taskId, text);
    return toTaskNotification(request.subscriptionId, task);
  };
  return {
    taskIds: followed.flatMap((outcome) => (outcome.status === "fulfilled" ? (outcome.value ?? []) : [])),
    take: () => {
      for (const [taskId, view] of waiting) {
        waiting.delete(taskId);
        const update = toUpdate(view);
        if (hasEnded(view)) forget(taskId);
        if (update !== undefined) return update;
      }
      return undefined;
    },
    isOver: () => open.size === 0,
    stop,
  };
};

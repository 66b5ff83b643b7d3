import { setTimeout as pause } from "node:timers/promises";
import type { TaskDriver } from "../clients/task-driver.ts";
import { toFailure } from "../clients/to-failure.ts";

/** A task that is polled. */
export interface WatchedTask {
  readonly taskId: string;
  readonly call: string;
  /** Some look has shown that it has ended. */
  hasEnded: boolean;
}

/** What became of the polls. */
export interface Polls {
  answered: number;
  /** How long each of those took (milliseconds). */
  readonly durationMs: number[];
  /** Attempts that were not answered, by what they failed of. */
  readonly failed: Map<string, number>;
  /** Answers that are not true. */
  readonly wrong: string[];
}

export interface PollOptions {
  connect(): Promise<TaskDriver>;
  readonly tasks: readonly WatchedTask[];
  /** Between two polls of this client (milliseconds). */
  readonly everyMs: number;
  readonly polls: Polls;
  /** Ends it. */
  readonly signal: AbortSignal;
}

export const noPolls = (): Polls => ({ answered: 0, durationMs: [], failed: new Map(), wrong: [] });

/** Polls the tasks in turn at an even pace, each poll once: what fails is counted, and not repeated. */
export const pollOn = async ({ connect, tasks, everyMs, polls, signal }: PollOptions): Promise<void> => {
  let driver: TaskDriver | undefined;
  let dueAt = performance.now();
  for (let turn = 0; !signal.aborted; turn++) {
    const task = tasks[turn % tasks.length] as WatchedTask;
    const startedAt = performance.now();
    try {
      driver ??= await connect();
      await poll(driver, task, polls);
      polls.answered += 1;
      polls.durationMs.push(performance.now() - startedAt);
    } catch (error) {
      const { kind, why } = toFailure(error);
      if (kind === "unavailable" || kind === "gone") polls.failed.set(why, (polls.failed.get(why) ?? 0) + 1);
      else polls.wrong.push(`${task.call}: ${kind}: ${why}`);
      if (kind === "gone") driver = undefined;
    }
    dueAt = Math.max(dueAt + everyMs, performance.now() - everyMs);
    await pause(Math.max(0, dueAt - performance.now()));
  }
  await driver?.close();
};

const poll = async (driver: TaskDriver, task: WatchedTask, polls: Polls): Promise<void> => {
  const hadEnded = task.hasEnded;
  const { status, result } = await driver.poll(task.taskId);
  if (status === "finished") task.hasEnded = true;
  else if (hadEnded || status === "cancelled")
    polls.wrong.push(`${task.call} is ${status}${hadEnded ? " after its end" : ""}`);
  if (result !== undefined && !result.text.includes(`"${task.call}"`))
    polls.wrong.push(`${task.call} came to ${result.text}`);
};

import type { TaskResult, TaskStatus } from "../task-source.ts";
import type { Members } from "./members.ts";
import { Refused, type Request, type RequestLimits } from "./task-requests.ts";
import { type LegacyOutcome, toLegacyStatus } from "./to-legacy-status.ts";
import { toResult } from "./to-result.ts";

/** What a session of revision 2025-11-25 has seen of tasks. */
export interface LegacyTasks {
  read(taskId: string, signal?: AbortSignal): Promise<TaskStatus>;
  /** The server's answer to a call that has become a task. */
  created(task: Members): TaskStatus;
  readResult(taskId: string): Promise<TaskResult>;
  /** How long to wait before the next look (milliseconds). */
  pollMs(taskId: string): number;
}

/** A server may have no opinion (milliseconds). */
const usualPollMs = 1_000;
const shortestPollMs = 100;

export const legacyTasks = (request: Request): LegacyTasks => {
  const lastSeen = new Map<string, Seen>();
  const look = async (taskId: string, limits: RequestLimits): Promise<Seen> => {
    const task = await request("tasks/get", { taskId }, limits);
    const hasOutcome = task["status"] === "completed" || task["status"] === "failed";
    const seen = hasOutcome ? { task, outcome: await readOutcome(request, taskId, limits) } : { task };
    lastSeen.set(taskId, seen);
    return seen;
  };
  return {
    read: async (taskId, signal) => {
      const { task, outcome } = await look(taskId, signal === undefined ? {} : { signal });
      return toLegacyStatus(task, outcome);
    },
    created: (task) => {
      lastSeen.set(String(task["taskId"]), { task });
      return toLegacyStatus(task);
    },
    readResult: async (taskId) => {
      const seen = lastSeen.get(taskId);
      const { outcome } = seen?.outcome === undefined ? await look(taskId, {}) : seen;
      return toResult(request, outcome !== undefined && "result" in outcome ? outcome.result : {});
    },
    pollMs: (taskId) => Math.max(Number(lastSeen.get(taskId)?.task["pollInterval"] ?? usualPollMs), shortestPollMs),
  };
};

interface Seen {
  readonly task: Members;
  readonly outcome?: LegacyOutcome;
}

/** What the call would have answered, an error of the protocol included. */
const readOutcome = async (request: Request, taskId: string, limits: RequestLimits): Promise<LegacyOutcome> => {
  try {
    return { result: await request("tasks/result", { taskId }, limits) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { error: { message: error.reason } };
  }
};

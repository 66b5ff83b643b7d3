import { TaskClientError } from "./client-error.ts";
import { isObject, type Members } from "./is-object.ts";
import type { Question, Task, TaskStatus, WireName } from "./task.ts";
import { toToolResult } from "./to-tool-result.ts";

const statuses: ReadonlySet<unknown> = new Set<TaskStatus>([
  "submitted",
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
  "unknown",
]);

/** What the wires call the same things. */
const names = {
  "2026-07-28": { poll: "pollIntervalMs", keep: "ttlMs" },
  "2025-11-25": { poll: "pollInterval", keep: "ttl" },
  "sep-1686": { poll: "pollFrequency", keep: "keepAlive" },
} as const;

/** A task of any of the wires. Throws `bad_response` for what is none, or is another than `taskId`. */
export const toTask = (
  wire: Exclude<WireName, "none">,
  task: unknown,
  { taskId, questions = [] }: { readonly taskId?: string; readonly questions?: readonly Question[] } = {},
): Task => {
  if (!isObject(task) || typeof task["taskId"] !== "string") throw badTask("has no taskId");
  if (taskId !== undefined && task["taskId"] !== taskId) throw badTask(`is ${task["taskId"]}, not ${taskId}`);
  // A status that is not known yet is no end: a later look tells.
  const status = statuses.has(task["status"]) ? (task["status"] as TaskStatus) : "working";
  const { poll, keep } = names[wire];
  const createdAt = toInstant(task["createdAt"]);
  const updatedAt = toInstant(task["lastUpdatedAt"]);
  const message = toMessage(task);
  const pollIntervalMs = task[poll];
  const keepAliveMs = task[keep];
  return {
    taskId: task["taskId"],
    status,
    questions: status === "input_required" ? questions : [],
    ...(message === undefined ? {} : { message }),
    ...(typeof pollIntervalMs === "number" && pollIntervalMs >= 0 ? { pollIntervalMs } : {}),
    ...(typeof keepAliveMs === "number" || keepAliveMs === null ? { keepAliveMs } : {}),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
    ...(wire === "2026-07-28" && status === "completed" ? { result: toToolResult(task["result"]) } : {}),
  };
};

/** `error` is a text in SEP-1686, and an object in 2026-07-28. */
const toMessage = ({ statusMessage, error }: Members): string | undefined => {
  const reason = isObject(error) ? error["message"] : error;
  if (typeof reason === "string") return reason;
  return typeof statusMessage === "string" ? statusMessage : undefined;
};

const toInstant = (text: unknown): number | undefined => {
  const instant = Date.parse(String(text));
  return Number.isNaN(instant) ? undefined : instant;
};

const badTask = (fault: string): TaskClientError =>
  new TaskClientError("bad_response", `the task that the server answered with ${fault}`);

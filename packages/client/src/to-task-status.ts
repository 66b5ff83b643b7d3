import { TaskClientError } from "./client-error.ts";
import { isMembers, type Members } from "./members.ts";
import type { Question, TaskState, TaskStatus, WireName } from "./task-status.ts";
import { toToolResult } from "./to-tool-result.ts";

const states: ReadonlySet<unknown> = new Set<TaskState>([
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
export const toTaskStatus = (
  wire: Exclude<WireName, "none">,
  task: unknown,
  { taskId, questions = [] }: { readonly taskId?: string; readonly questions?: readonly Question[] } = {},
): TaskStatus => {
  if (!isMembers(task) || typeof task["taskId"] !== "string") throw badTask("has no taskId");
  if (taskId !== undefined && task["taskId"] !== taskId) throw badTask(`is ${task["taskId"]}, not ${taskId}`);
  // A state that is not known yet is no end: a later look tells.
  const state = states.has(task["status"]) ? (task["status"] as TaskState) : "working";
  const { poll, keep } = names[wire];
  const createdAt = toInstant(task["createdAt"]);
  const updatedAt = toInstant(task["lastUpdatedAt"]);
  const message = toMessage(task);
  const pollMs = task[poll];
  const keepMs = task[keep];
  return {
    taskId: task["taskId"],
    state,
    questions: state === "input_required" ? questions : [],
    ...(message === undefined ? {} : { message }),
    ...(typeof pollMs === "number" && pollMs >= 0 ? { pollMs } : {}),
    ...(typeof keepMs === "number" || keepMs === null ? { keepMs } : {}),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
    ...(wire === "2026-07-28" && state === "completed" ? { result: toToolResult(task["result"]) } : {}),
  };
};

/** `error` is a text in SEP-1686, and an object in 2026-07-28. */
const toMessage = ({ statusMessage, error }: Members): string | undefined => {
  const reason = isMembers(error) ? error["message"] : error;
  if (typeof reason === "string") return reason;
  return typeof statusMessage === "string" ? statusMessage : undefined;
};

const toInstant = (text: unknown): number | undefined => {
  const instant = Date.parse(String(text));
  return Number.isNaN(instant) ? undefined : instant;
};

const badTask = (fault: string): TaskClientError =>
  new TaskClientError("bad_response", `the task that the server answered with ${fault}`);

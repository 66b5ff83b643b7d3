import type { ExecutionProgress, TaskState } from "@taskbridge/core";
import type { TaskStatus } from "../task-source.ts";
import type { Members } from "./members.ts";
import { toQuestions } from "./to-questions.ts";
import { textsOf } from "./to-result.ts";

const states: Readonly<Record<string, TaskState>> = {
  working: "running",
  input_required: "waiting",
  completed: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
};

/** A task of the wire, as `tools/call` and `tasks/get` answer it. */
export const toStatus = (task: Members): TaskStatus => {
  const result = task["result"] as Members | undefined;
  const hasFailed = result?.["isError"] === true;
  const state = hasFailed ? "failed" : (states[String(task["status"])] ?? "running");
  const message = task["statusMessage"];
  const progress = state === "running" && typeof message === "string" ? parseProgress(message) : undefined;
  const createdAt = Date.parse(String(task["createdAt"]));
  const updatedAt = Date.parse(String(task["lastUpdatedAt"]));
  const ttlMs = task["ttlMs"];
  return {
    taskId: String(task["taskId"]),
    state,
    ...(typeof message === "string" && progress === undefined ? { message } : {}),
    ...(progress === undefined ? {} : { progress }),
    questions: state === "waiting" ? toQuestions(task["inputRequests"]) : [],
    ...(state === "failed" ? { failure: toFailure(task) } : {}),
    createdAt,
    updatedAt,
    ...(typeof ttlMs === "number" ? { expiresAt: createdAt + ttlMs } : {}),
  };
};

/** The wire has no place for numbers, so servers of ours tell progress as `3 of 10: message`. */
const parseProgress = (message: string): ExecutionProgress | undefined => {
  const [, done, total, rest] = /^(\d+(?:\.\d+)?)(?: of (\d+(?:\.\d+)?))?(?:: (.*))?$/s.exec(message) ?? [];
  if (done === undefined) return undefined;
  return {
    done: Number(done),
    ...(total === undefined ? {} : { total: Number(total) }),
    ...(rest === undefined ? {} : { message: rest }),
  };
};

const toFailure = (task: Members): { reason: string; detail?: string } => {
  const error = task["error"] as Members | undefined;
  if (error !== undefined) return { reason: String(error["message"]) };
  const [reason = "failed", ...detail] = textsOf(task["result"] as Members);
  return detail.length === 0 ? { reason } : { reason, detail: detail.join("\n") };
};

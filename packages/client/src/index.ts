export {
  isTaskClientError,
  type RpcFault,
  TaskClientError,
  type TaskClientErrorCode,
  type TaskClientErrorDetails,
} from "./client-error.ts";
export type { Clock } from "./clock.ts";
export type { PendingCall, ResumeOptions } from "./pending-call.ts";
export type { AskContext, OnQuestion } from "./question-desk.ts";
export type { WholeResult } from "./read-whole.ts";
export type { SdkClient } from "./sdk-client.ts";
export { type CallOptions, type TaskClient, type TaskClientOptions, taskClient } from "./task-client.ts";
export {
  type Answers,
  type GivenAnswer,
  isOver,
  type Question,
  type TaskState,
  type TaskStatus,
  type ToolResult,
  type WireName,
  wireNames,
} from "./task-status.ts";
export type { TaskWatch } from "./watch-task.ts";

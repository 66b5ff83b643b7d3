export {
  isTaskClientError,
  type RpcFault,
  TaskClientError,
  type TaskClientErrorCode,
  type TaskClientErrorDetails,
} from "./client-error.ts";
export { taskClient } from "./create-task-client.ts";
export type { Questions } from "./follow-task.ts";
export type { PendingCall, ResumeOptions } from "./pending-call.ts";
export type { AskContext, OnQuestion } from "./question-dispatcher.ts";
export type { WholeResult } from "./read-whole.ts";
export type { SdkClient } from "./sdk-client.ts";
export {
  type Answers,
  type GivenAnswer,
  isOver,
  type Question,
  type Task,
  type TaskStatus,
  type WireName,
} from "./task.ts";
export type {
  CallOptions,
  TaskClient,
  TaskClientOptions,
  ToolProgress,
  WatchOptions,
} from "./task-client.ts";
export type { ContentBlock, LinkBlock, MediaBlock, ResourceBlock, TextBlock, ToolResult } from "./tool-result.ts";

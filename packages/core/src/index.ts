export {
  BridgeError,
  type BridgeErrorCode,
  isBridgeError,
  isStoreTrouble,
  isStoreUnavailable,
  retryability,
  toBridgeError,
  toPublicMessage,
} from "./contract/bridge-error.ts";
export { type Clock, systemClock } from "./contract/clock.ts";
export type { ExecutionProgress, ExecutionStatus } from "./contract/execution-snapshot.ts";
export { type AdapterId, asAdapterId, asOwnerId, asTaskId, type OwnerId, type TaskId } from "./contract/identity.ts";
export { isObject, type JsonObject, type JsonValue } from "./contract/json-value.ts";
export { misconfigured } from "./contract/misconfigured.ts";
export type { TaskQuestion, TaskRecord, TaskState } from "./contract/task-record.ts";
export type { ListFilter } from "./contract/task-store.ts";
export { pause, unlessAborted, within } from "./contract/wait.ts";
export type { AuditEvent, AuditKind, AuditSink } from "./engine/context/audit.ts";
export { defaultLimits, type Limits } from "./engine/context/limits.ts";
export { type Access, localOwner } from "./engine/context/ownership.ts";
export type {
  AnswerReport,
  ClaimOutcome,
  CreatedTask,
  CreateTask,
  OutputPart,
  TaskEngine,
  TaskExplanation,
  TaskView,
  WaitOptions,
} from "./engine/context/task-engine.ts";
export type { GivenAnswer, Prepare, PrepareOutcome, PrepareQuestion } from "./engine/context/tool-definition.ts";
export {
  defaultTaskPolicy,
  type ResolvedTool,
  type TaskPolicy,
  type ToolDefinition,
} from "./engine/context/tool-definition.ts";
export { createTaskEngine, type TaskEngineOptions } from "./engine/create-task-engine.ts";
export { type ClientId, parseClientId } from "./engine/state/client-task-id.ts";
export { openQuestions } from "./engine/state/questions.ts";

export { minRetentionMs } from "../min-retention.ts";
export {
  type ClientTask,
  isClientTaskOver,
  parseClientTask,
  parseCreatedTask,
  withClientTask,
} from "./client-task.ts";
export { endedCannotBeCancelled } from "./ended-cannot-be-cancelled.ts";
export { fromElicitResult } from "./from-elicit-result.ts";
export { fromSamplingResult } from "./from-sampling-result.ts";
export { parseTaskParams, type TaskParams } from "./parse-task-params.ts";
export { readCapabilities, type SessionCapabilities } from "./read-capabilities.ts";
export { type RelatedTaskMeta, relatedTask, relatedTaskKey } from "./related-task.ts";
export { protocolVersion, type ServerTasksCapability, serverTasksCapability } from "./server-tasks-capability.ts";
export { type TaskSupport, taskSupportFault } from "./task-support-fault.ts";
export { type CreateTaskResult, modelImmediateResponseKey, toCreateResult } from "./to-create-result.ts";
export { toDeclaredCapabilities } from "./to-declared-capabilities.ts";
export { type ElicitationRequest, type SessionQuestion, toElicitation } from "./to-elicitation.ts";
export { type SamplingRequest, toSampling } from "./to-sampling.ts";
export { type StatusNotification, toStatusNotification } from "./to-status-notification.ts";
export { type Task, type TaskOptions, type TaskStatus, toTask } from "./to-task.ts";
export { type TaskResult, toTaskResult } from "./to-task-result.ts";

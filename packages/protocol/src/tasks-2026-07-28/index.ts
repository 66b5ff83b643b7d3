export { acknowledgement } from "./acknowledgement.ts";
export {
  declaredExtension,
  missingCapabilityCode,
  missingExtension,
  missingExtensionMessage,
  protocolVersion,
  tasksExtension,
} from "./extension.ts";
export { fromInputResponses } from "./from-input-responses.ts";
export {
  acknowledgedId,
  acknowledgedMethod,
  honoursNothing,
  type ListenRequest,
  listenMethod,
  parseListenRequest,
  parseTaskIds,
  toGracefulEnd,
  toTaskNotification,
  type WireMessage,
  withTaskIds,
} from "./listen.ts";
export { type CallerCapabilities, readCapabilities } from "./read-capabilities.ts";
export { type CreateTaskResult, toCreateResult } from "./to-create-result.ts";
export { type DetailedTask, toDetailedTask } from "./to-detailed-task.ts";
export { type ElicitationRequest, type InputRequests, toInputRequests } from "./to-input-requests.ts";
export { type InputRequiredResult, toInputRequiredResult } from "./to-input-required-result.ts";

export {
  declaredExtension,
  missingCapabilityCode,
  missingExtension,
  missingExtensionMessage,
  protocolVersion,
  tasksExtension,
} from "./extension.ts";
export { type FormSchema, toFormSchema } from "./form-schema.ts";
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
export { acknowledgement, parseTaskId } from "./parse-task-id.ts";
export { type CallerCapabilities, readCapabilities } from "./read-capabilities.ts";
export { type CreateTaskResult, toCreateResult } from "./to-create-result.ts";
export { type DetailedTask, toDetailedTask } from "./to-detailed-task.ts";
export {
  type AskedQuestion,
  type ElicitationRequest,
  type InputRequests,
  openQuestions,
  toInputRequests,
} from "./to-input-requests.ts";
export { isToolError, limitExceededCode, type RpcError, toRpcError } from "./to-rpc-error.ts";

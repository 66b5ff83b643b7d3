export {
  BridgeError,
  type BridgeErrorCode,
  type BridgeErrorDetails,
  isBridgeError,
  retryability,
  toBridgeError,
} from "./contract/bridge-error.ts";
export {
  type ExecutionChild,
  type ExecutionFailure,
  type ExecutionOutput,
  type ExecutionProgress,
  type ExecutionQuestion,
  type ExecutionSnapshot,
  type ExecutionStatus,
  executionStatuses,
  inlineOutputBytes,
  isEnded,
} from "./contract/execution-snapshot.ts";
export { asExecutionRef, asStartKey, type ExecutionRef, type StartKey } from "./contract/identity.ts";
export { isTemplate, placeholder } from "./contract/is-template.ts";
export { isObject, type JsonObject, type JsonValue } from "./contract/json-value.ts";
export { misconfigured, refuseOtherMembers, showValue } from "./contract/misconfigured.ts";
export { pause, unlessAborted, type WaitLimits, within, withSignal } from "./contract/wait.ts";
export type {
  AdapterEnvironment,
  AdapterTraits,
  AnswerRequest,
  CallContext,
  CheckFinding,
  CreateAdapter,
  ExecutionUpdate,
  FindRequest,
  InspectItem,
  InspectOutcome,
  OutputChunk,
  OutputRange,
  PipelineDescription,
  ReceiveRequest,
  StartOutcome,
  StartPromise,
  StartRequest,
  Subscription,
  WatchRequest,
  WorkflowAdapter,
} from "./contract/workflow-adapter.ts";
export { inspectEach } from "./inspect-each.ts";

export { assertRange, isCount } from "./contract/assert-range.ts";
export { BridgeError, type BridgeErrorCode, isBridgeError, toBridgeError } from "./contract/bridge-error.ts";
export {
  type AdapterId,
  asAdapterId,
  asExecutionRef,
  asOwnerId,
  asStartKey,
  asTaskId,
  type ExecutionRef,
  type OwnerId,
  type StartKey,
  type TaskId,
} from "./contract/identity.ts";
export type { JsonObject, JsonValue } from "./contract/json-value.ts";
export { misconfigured, refuseOtherMembers, showValue } from "./contract/misconfigured.ts";
export { revisionConflict } from "./contract/revision-conflict.ts";
export { assertValue, probeValues } from "./contract/stored-values.ts";
export type {
  Effect,
  FrozenPolicy,
  OutputMediaType,
  PayloadName,
  StartProgress,
  TaskQuestion,
  TaskRecord,
  TaskState,
} from "./contract/task-record.ts";
export {
  type CreateOptions,
  type CreateStore,
  type Lease,
  type ListFilter,
  type ListPage,
  type ListScope,
  maxCreateMs,
  maxValueBytes,
  type Payload,
  type PayloadChunk,
  type PayloadRange,
  type ReviseOptions,
  removedIdReservedMs,
  type StoreDescription,
  type StoredValues,
  type StoreEnvironment,
  type TaskStore,
  type UniqueKey,
  type WriteValueOptions,
} from "./contract/task-store.ts";
export { within } from "./contract/wait.ts";
export { createCursor, type ListPosition, parseCursor } from "./memory-cursor.ts";

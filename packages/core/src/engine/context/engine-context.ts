import type { Clock } from "../../contract/clock.ts";
import type { AdapterId } from "../../contract/identity.ts";
import type { JsonObject } from "../../contract/json-value.ts";
import type { Effect, TaskRecord } from "../../contract/task-record.ts";
import type { TaskStore } from "../../contract/task-store.ts";
import type { WorkflowAdapter } from "../../contract/workflow-adapter.ts";
import type { AuditEvent } from "./audit.ts";
import type { Limits } from "./limits.ts";
import type { RunTimes } from "./run-times.ts";
import type { SecretBox } from "./secret-box.ts";
import type { TaskHub } from "./task-hub.ts";
import type { RandomBytes } from "./task-id.ts";
import type { ResolvedTool } from "./tool-definition.ts";
import type { JsonCheck } from "./validate-json.ts";

/** What the parts of one engine share. */
export interface EngineContext {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly adapters: ReadonlyMap<AdapterId, WorkflowAdapter>;
  readonly tools: ReadonlyMap<string, ResolvedTool>;
  readonly limits: Limits;
  readonly secrets: SecretBox;
  readonly hub: TaskHub;
  readonly runTimes: RunTimes;
  readonly check: (schema: JsonObject, path: string) => JsonCheck;
  /** Fires when the engine closes: calls to backends end, and what they would have led to is left to the next process. */
  readonly closing: AbortSignal;
  /** Looks at an execution as soon as may be, whatever its interval: something is known to have changed. */
  inspectSoon(record: TaskRecord): void;
  /** Looks whether an execution has ended, and resolves once what was seen is in the record. */
  inspectStatus(record: TaskRecord): Promise<void>;
  /** Carries out, in this process and at once, what is due for a record: also where no service loop runs. */
  serveSoon(record: TaskRecord): void;
  /** Carries out an effect that this process has claimed, once the caller was answered. */
  runSoon(record: TaskRecord, effect: Effect): void;
  /** Takes back a record that the store may hold although its caller was told that it was away. */
  withdraw(record: Pick<TaskRecord, "taskId" | "startKey">): void;
  audit(event: Omit<AuditEvent, "at">): void;
  /** Lets work go on after its caller was answered. Its failure is audited; `close` waits for it. */
  background(work: Promise<unknown>): void;
}

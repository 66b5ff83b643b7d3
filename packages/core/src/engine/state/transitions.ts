import {
  type ExecutionFailure,
  type ExecutionSnapshot,
  executionStatuses,
  isEnded,
} from "../../contract/execution-snapshot.ts";
import type { PayloadName, TaskRecord, TaskState } from "../../contract/task-record.ts";
import type { Payload } from "../../contract/task-store.ts";
import { isActionable, isForeign, keepEffects, withEffect } from "./effects.ts";
import { closeAllQuestions, mergeQuestions, type NewSecret, openQuestions } from "./questions.ts";

/** From which state a task may go to which. What has ended goes nowhere. */
export const transitionTable: Readonly<Record<TaskState, readonly TaskState[]>> = {
  queued: executionStatuses,
  running: executionStatuses,
  waiting: executionStatuses,
  succeeded: [],
  failed: [],
  cancelled: [],
};

/** Why a call could not be carried out, as clients see it in `data.reason`. */
export type ProtocolReason =
  | "max_run"
  | "start_unknown"
  | "start_deadline"
  | "start_refused"
  | "stopped_outside"
  | "lost"
  | "result_unavailable"
  | "protocol";

/** How a task ends. */
export interface TaskEnd {
  readonly state: "succeeded" | "failed" | "cancelled";
  readonly message?: string;
  readonly failure?: ExecutionFailure;
  readonly output?: NonNullable<TaskRecord["output"]>;
  /** False once the backend is known to have ended. */
  readonly slotHeld: boolean;
}

/** A record as it should become, with what is stored and dropped beside it. */
export interface Transition {
  readonly record: TaskRecord;
  readonly payloads: readonly Payload[];
  readonly dropPayloads: readonly PayloadName[];
  /** Secrets of new questions, still to be sealed. */
  readonly secrets: readonly NewSecret[];
}

/** Cuts a text, with a mark that it was cut. */
export const clip = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…`;

const clipFailure = (failure: ExecutionFailure): ExecutionFailure => ({
  kind: failure.kind,
  reason: clip(failure.reason, 500),
  ...(failure.code === undefined ? {} : { code: clip(failure.code, 100) }),
  ...(failure.detail === undefined ? {} : { detail: clip(failure.detail, 3_000) }),
});

/** Ends a task. Its questions are withdrawn; only what still must be told to the backend stays in the outbox. */
export const endTask = (record: TaskRecord, end: TaskEnd, now: number): Transition => {
  if (!transitionTable[record.state].includes(end.state)) return unchanged(record);
  const { record: closed, dropPayloads } = closeAllQuestions(record);
  const remaining = keepEffects(closed, ({ kind }) => end.slotHeld && (kind === "cancel" || kind === "start"));
  const { message: _message, ...rest } = remaining;
  return {
    record: {
      ...rest,
      state: end.state,
      ...(end.message === undefined ? {} : { message: clip(end.message, 500) }),
      ...(end.failure === undefined ? {} : { failure: clipFailure(end.failure) }),
      ...(end.output === undefined ? {} : { output: end.output }),
      endedAt: now,
      updatedAt: now,
      expiresAt: now + record.policy.retentionMs,
      slotHeld: end.slotHeld,
    },
    payloads: [],
    dropPayloads,
    secrets: [],
  };
};

/** Ends a task because the call could not be carried out as one. */
export const failTask = (
  record: TaskRecord,
  reason: ProtocolReason,
  text: string,
  now: number,
  slotHeld = false,
): Transition =>
  endTask(
    record,
    { state: "failed", message: text, failure: { kind: "protocol", code: reason, reason: text }, slotHeld },
    now,
  );

/** How the message of a task begins while the backend does not know its execution, unproven. */
const unseen = "not to be seen in the backend";

/** Says why nothing moves. What it said before does not come back: it is from before that. */
export const withUnseen = (record: TaskRecord, more: string, now: number): TaskRecord => {
  const message = clip(`${unseen}${more}`, 500);
  return message === record.message ? record : { ...record, message, updatedAt: now };
};

const withoutUnseen = ({ missingSince: _seen, message, ...record }: TaskRecord): TaskRecord =>
  message === undefined || message.startsWith(unseen) ? record : { ...record, message };

/** Whether the backend has told an end, whatever became of the task. */
export const hasExecutionEnded = (record: TaskRecord): boolean =>
  record.execution !== undefined && isEnded(record.execution.status);

/** The record as it is, with nothing beside it. */
export const unchanged = (record: TaskRecord): Transition => ({ record, payloads: [], dropPayloads: [], secrets: [] });

/**
 * What a look at the backend, or news from it, makes of a record. The same record when it makes no difference.
 * `inspectedAt`: when the look began; absent for news.
 */
export const applySnapshot = (
  record: TaskRecord,
  snapshot: ExecutionSnapshot,
  now: number,
  maxReasks: number,
  inspectedAt?: number,
): Transition => {
  const seen: TaskRecord = { ...withoutUnseen(record), execution: toExecution(record, snapshot) };
  // What has ended at the backend is not brought back by an older state, also while its output is still being fetched.
  if (hasExecutionEnded(record) && !isEnded(snapshot.status)) return unchanged(record);
  if (isEnded(record.state)) return applyLate(seen, snapshot);
  if (isEnded(snapshot.status)) return applyEnd(seen, snapshot, now);
  const merged =
    snapshot.questions === undefined || record.cancel !== undefined
      ? unchanged(seen)
      : mergeQuestions(seen, snapshot.questions, now, { maxReasks, inspectedAt });
  const state =
    openQuestions(merged.record.questions).length > 0
      ? "waiting"
      : snapshot.status === "waiting"
        ? "running"
        : snapshot.status;
  const next: TaskRecord = { ...merged.record, state };
  return { ...merged, record: isVisibleChange(record, next) ? { ...next, updatedAt: now } : next };
};

const applyLate = (record: TaskRecord, snapshot: ExecutionSnapshot): Transition => {
  if (!isEnded(snapshot.status)) return unchanged(record);
  return unchanged(releaseSlot(record));
};

/** Gives the slot of an ended task back, once nothing of it runs at the backend: what was still to be stopped is not. */
export const releaseSlot = (record: TaskRecord): TaskRecord =>
  keepEffects({ ...record, slotHeld: false }, ({ kind }) => kind !== "cancel" && kind !== "start");

/** Adds the last effect of an expired record, once nothing of it runs any more: whichever write let go of the slot. */
export const withForget = (record: TaskRecord, now: number): TaskRecord =>
  record.expired !== true || record.slotHeld || record.effects.some((effect) => effect.kind === "forget")
    ? record
    : withEffect(record, { kind: "forget" }, now);

/** Notes that a task has begun, as soon as anything tells so: whichever write that is. */
export const withBegun = (record: TaskRecord, now: number): TaskRecord =>
  record.begunAt === undefined && hasBegun(record) ? { ...record, begunAt: now } : record;

const hasBegun = ({ state, execution }: TaskRecord): boolean =>
  [state, execution?.status].some((status) => status === "running" || status === "waiting" || status === "succeeded") ||
  execution?.status === "failed" ||
  execution?.startedAt !== undefined;

const applyEnd = (record: TaskRecord, snapshot: ExecutionSnapshot, now: number): Transition => {
  const settled = keepEffects(record, (effect) => effect.kind !== "cancel");
  if (snapshot.status === "succeeded") return applySuccess(settled, snapshot, now);
  if (snapshot.status === "failed") {
    const failure = snapshot.failure ?? { kind: "job", reason: "the execution failed" };
    return endTask(settled, { state: "failed", message: failure.reason, failure, slotHeld: false }, now);
  }
  if (record.cancel !== undefined) {
    return endTask(settled, { state: "cancelled", message: record.cancel.reason, slotHeld: false }, now);
  }
  const why = snapshot.failure === undefined ? "" : `: ${snapshot.failure.reason}`;
  return failTask(settled, "stopped_outside", `the execution was stopped outside of this server${why}`, now);
};

const applySuccess = (record: TaskRecord, snapshot: ExecutionSnapshot, now: number): Transition => {
  const output = snapshot.output;
  if (output?.kind === "stream") {
    if (record.effects.some((effect) => effect.kind === "capture")) return unchanged(record);
    const { record: closed, dropPayloads } = closeAllQuestions(
      keepEffects(record, (effect) => effect.kind === "start"),
    );
    const capturing = withEffect(
      { ...closed, state: "running", slotHeld: false, updatedAt: now },
      { kind: "capture", mediaType: output.mediaType },
      now,
    );
    return { record: capturing, payloads: [], dropPayloads, secrets: [] };
  }
  const mediaType = output?.kind === "json" ? "application/json" : "text/plain";
  const bytes = Buffer.from(
    output === undefined ? "" : output.kind === "json" ? JSON.stringify(output.value) : output.text,
    "utf8",
  );
  const end = endTask(record, { state: "succeeded", output: { mediaType, bytes: bytes.length }, slotHeld: false }, now);
  return { ...end, payloads: [...end.payloads, { name: "output", bytes }] };
};

const toExecution = (record: TaskRecord, snapshot: ExecutionSnapshot): NonNullable<TaskRecord["execution"]> => {
  const before = record.execution;
  const progress = snapshot.progress ?? before?.progress;
  const url = snapshot.url ?? before?.url;
  const startedAt = snapshot.startedAt ?? before?.startedAt;
  const endedAt = snapshot.endedAt ?? before?.endedAt;
  const expectedEndAt = snapshot.expectedEndAt ?? before?.expectedEndAt;
  const children = snapshot.children ?? before?.children;
  return {
    status: snapshot.status,
    ...(progress === undefined
      ? {}
      : {
          progress: progress.message === undefined ? progress : { ...progress, message: clip(progress.message, 300) },
        }),
    ...(url === undefined ? {} : { url: clip(url, 1_000) }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(expectedEndAt === undefined ? {} : { expectedEndAt }),
    ...(children === undefined
      ? {}
      : {
          children: children.slice(0, 10).map((child) => ({
            name: clip(child.name, 80),
            status: child.status,
            ...(child.url === undefined ? {} : { url: clip(child.url, 200) }),
          })),
        }),
  };
};

const visibleParts = (record: TaskRecord): string =>
  JSON.stringify([
    record.state,
    record.message,
    record.execution?.progress,
    record.execution?.url,
    openQuestions(record.questions).map((question) => question.key),
  ]);

const isVisibleChange = (before: TaskRecord, after: TaskRecord): boolean =>
  visibleParts(before) !== visibleParts(after);

/** When `maxRunMs` is over, for an execution that may still run by then. Fetching a result is no part of the run. */
export const mustStopAt = (record: TaskRecord): number | undefined =>
  record.policy.maxRunMs === null || isEnded(record.state) || hasExecutionEnded(record)
    ? undefined
    : record.createdAt + record.policy.maxRunMs;

/** When the engine must next act on a record by itself. */
export const wakeAtOf = (record: TaskRecord): number | null => {
  const times: number[] = [];
  for (const effect of record.effects)
    if (isActionable(record, effect) || isForeign(effect)) times.push(effect.notBefore);
  const stopAt = mustStopAt(record);
  if (stopAt !== undefined) times.push(stopAt);
  for (const question of openQuestions(record.questions))
    if (question.expiresAt !== undefined) times.push(question.expiresAt);
  if (record.expiresAt !== undefined && record.expired !== true) times.push(record.expiresAt);
  return times.length === 0 ? null : Math.min(...times);
};

import { BridgeError, isBridgeError, isStoreUnavailable, toBridgeError } from "../../contract/bridge-error.ts";
import type { TaskId } from "../../contract/identity.ts";
import type { JsonObject } from "../../contract/json-value.ts";
import { invalidInput } from "../../contract/misconfigured.ts";
import type { Effect, TaskRecord } from "../../contract/task-record.ts";
import { within } from "../../contract/wait.ts";
import { aboutTask } from "../context/audit.ts";
import { requireAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { requireLabel } from "../context/require-label.ts";
import type { CreateTask } from "../context/task-engine.ts";
import { mintStartKey, taskNotFound } from "../context/task-id.ts";
import type { ResolvedTool } from "../context/tool-definition.ts";
import { cancelTask } from "../state/cancel-task.ts";
import { toPublicId } from "../state/client-task-id.ts";
import { claimMs, withClaimedEffect } from "../state/effects.ts";
import { wakeAtOf } from "../state/transitions.ts";
import { failRefusedStart, type StartResult } from "./apply-start-error.ts";
import { createWithRetry } from "./create-with-retry.ts";
import { fillTemplate, fillText } from "./fill-template.ts";
import { removeUntouched } from "./remove-untouched.ts";
import { sendFirst } from "./start-execution.ts";
import { acquireTaskId, taskIdInUse, uniqueKeysOf } from "./task-keys.ts";

type NewRecord = Omit<TaskRecord, "revision">;

/** What a call has led to. */
interface CallOutcome {
  readonly record: TaskRecord;
  /** Nothing was started: the same call is this task already. */
  readonly isDeduplicated: boolean;
  readonly immediateResponse?: string;
}

/** Starts a pipeline: see `TaskEngine.createTask`. */
export const createTask = async (engine: EngineContext, request: CreateTask): Promise<CallOutcome> => {
  const tool = requireTool(engine, request.tool);
  const taskId = await acquireTaskId(engine, request);
  const input = requireInput(engine, tool, request.input);
  const adapter = requireAdapter(engine, tool.adapter);
  const bytes = toBytes(input);
  requireSize(bytes.length, engine.limits.maxInputBytes, "this server");
  if (adapter.traits.maxPayloadBytes !== null)
    requireSize(bytes.length, adapter.traits.maxPayloadBytes, `the backend of ${tool.name}`);
  // A value that the target needs and the input lacks is a fault of the arguments, and is told before anything is written.
  fillTemplate(tool.target, input);
  const { immediateResponse } = tool.task;
  const response = immediateResponse === undefined ? {} : { immediateResponse: fillText(immediateResponse, input) };
  if (request.signal?.aborted === true) throw callerGone();
  const record = newRecord(engine, tool, request, taskId);
  const created = await writeRecord(engine, tool, record, bytes, request);
  if (created.taskId === record.taskId) {
    engine.audit({ kind: "task_created", ...aboutTask(created) });
    return { record: await startAndAwait(engine, tool, created, request), isDeduplicated: false, ...response };
  }
  // While the other call still waits for its answer, a refusal would take the task away again, and its owner may delete it.
  const deduplicated = await awaitStart(engine, tool, created, request.signal);
  if (deduplicated === undefined || deduplicated.expired === true) return createTask(engine, request);
  engine.audit({ kind: "task_deduplicated", ...aboutTask(deduplicated) });
  return { record: deduplicated, isDeduplicated: true, ...response };
};

/** The exact JSON text that is kept and sent. What is nested so deeply that it cannot be written is no argument. */
const toBytes = (input: JsonObject): Buffer => {
  try {
    return Buffer.from(JSON.stringify(input), "utf8");
  } catch (error) {
    throw invalidInput("arguments", `they cannot be written as JSON: ${(error as Error).message}`);
  }
};

/** The tool of this name; `invalid_input` when there is none. */
export const requireTool = (engine: EngineContext, name: string): ResolvedTool => {
  const tool = engine.tools.get(name);
  if (tool === undefined) throw new BridgeError("invalid_input", `Unknown tool: ${name}`, { data: { path: "name" } });
  return tool;
};

/** The arguments, when they fit the tool's schema. */
export const requireInput = (engine: EngineContext, tool: ResolvedTool, input: unknown): JsonObject => {
  const value = input ?? {};
  if (typeof value !== "object" || Array.isArray(value)) throw invalidInput("arguments", "an object is needed");
  const fault = engine.check(tool.input, `tools.${tool.name}.input`)(value);
  if (fault !== undefined) {
    const path = /^([^\s:]+): /.exec(fault)?.[1] ?? "arguments";
    throw new BridgeError("invalid_input", `arguments: ${fault}`, { data: { path } });
  }
  return value as JsonObject;
};

const requireSize = (bytes: number, maximum: number, whose: string): void => {
  if (bytes > maximum)
    throw invalidInput("arguments", `${bytes} bytes are more than the ${maximum} that ${whose} takes`);
};

const newRecord = (engine: EngineContext, tool: ResolvedTool, request: CreateTask, taskId: TaskId): NewRecord => {
  const now = engine.store.now();
  const { retentionMs, maxRunMs, questionTimeoutMs, pollIntervalMs, onUnknownStart } = tool.task;
  const record: TaskRecord = {
    schema: 1,
    taskId,
    revision: 0,
    owner: request.owner,
    ...(request.origin === undefined ? {} : { origin: requireLabel("origin", request.origin) }),
    tool: tool.name,
    adapterId: tool.adapter,
    target: tool.target,
    startKey: mintStartKey(engine.random),
    policy: {
      pollIntervalMs,
      retentionMs: Math.min(retentionMs, engine.limits.maxRetentionMs, Math.max(0, request.retentionMs ?? retentionMs)),
      maxRunMs,
      questionTimeoutMs,
      onUnknownStart,
    },
    state: "queued",
    createdAt: now,
    updatedAt: now,
    // The first send follows this write, so a reader of the record must already reckon with it.
    start: { firstSentAt: now, lastSentAt: now, deadlineAt: now + tool.task.startDeadlineMs },
    questions: [],
    effects: [],
    minted: 0,
    slotHeld: true,
    wakeAt: null,
  };
  const queued = withClaimedEffect(record, { kind: "start" }, now + claimMs("start", engine.limits.callTimeoutMs));
  const { revision: _revision, ...fresh } = { ...queued, wakeAt: wakeAtOf(queued) };
  return fresh;
};

/** The new record, or the one that an identical call within the tool's window has already made. */
const writeRecord = async (
  engine: EngineContext,
  tool: ResolvedTool,
  record: NewRecord,
  input: Uint8Array,
  request: CreateTask,
): Promise<TaskRecord> => {
  const options = {
    uniqueKeys: uniqueKeysOf(engine, { request, tool, record, input }),
    maxOpenForOwner: engine.limits.maxConcurrentTasksPerOwner,
    maxOpenForTool: tool.task.maxConcurrent,
    payloads: [{ name: "input" as const, bytes: input }],
  };
  const makeRoom = (error: BridgeError): Promise<void> => inspectOpenTasks(engine, record, error);
  const explain = (error: unknown): never => {
    throw explainRefusal(toBridgeError(error), engine, tool, request);
  };
  try {
    return await createWithRetry(engine, record, options, makeRoom);
  } catch (error) {
    if (!isBridgeError(error)) throw error;
    if (error.code === "conflict" && request.taskId === undefined && options.uniqueKeys.length > 0) {
      const holder = await engine.store.read(error.data?.taskId as TaskId);
      // Who asks again after a stop wants it to run.
      if (holder !== undefined && holder.expired !== true && holder.cancel === undefined) return holder;
      return createWithRetry(engine, record, { ...options, uniqueKeys: [] }, makeRoom).catch(explain);
    }
    return explain(error);
  }
};

/** Owner or tool may be full only because nobody has looked for a while: look, then judge. */
const inspectOpenTasks = async (engine: EngineContext, record: NewRecord, error: BridgeError): Promise<void> => {
  const open = { slotHeld: true, includeExpired: true };
  const { records } =
    error.data?.scope === "tool"
      ? await engine.store.list({ operator: true }, { ...open, tool: record.tool }, undefined, 100)
      : await engine.store.list({ owner: record.owner }, open, undefined, 100);
  const inspections = Promise.all(records.map((open) => engine.inspectStatus(open)));
  await within(inspections, engine.limits.readWaitMs, { clock: engine.clock });
};

/** Why the store has not taken a record, for the caller. */
const explainRefusal = (
  error: BridgeError,
  engine: EngineContext,
  tool: ResolvedTool,
  { taskId }: CreateTask,
): BridgeError => {
  if (error.code === "conflict" && taskId !== undefined) return taskIdInUse(taskId);
  if (error.code !== "limit_exceeded") return error;
  const isOwners = error.data?.scope === "owner";
  const limit = isOwners
    ? `limits.maxConcurrentTasksPerOwner (${engine.limits.maxConcurrentTasksPerOwner})`
    : `the tool's maxConcurrent (${tool.task.maxConcurrent})`;
  const openTaskIds = (error.data?.openTaskIds ?? []) as readonly string[];
  // Whose tasks fill a tool is not this caller's business.
  const data = {
    scope: isOwners ? "owner" : "tool",
    retryAfterMs: tool.task.pollIntervalMs,
    ...(isOwners ? { openTaskIds: openTaskIds.map(toPublicId) } : {}),
  };
  return new BridgeError("limit_exceeded", `too many tasks are running: ${limit} is reached`, {
    data,
    retryAfterMs: tool.task.pollIntervalMs,
    cause: error,
  });
};

/** Sends the start and waits for it, at most the tool's `ackMs`. A refusal within that time leaves no task. */
const startAndAwait = async (
  engine: EngineContext,
  tool: ResolvedTool,
  created: TaskRecord,
  request: CreateTask,
): Promise<TaskRecord> => {
  const effect = created.effects[0] as Extract<Effect, { kind: "start" }>;
  let isHandedOut = false;
  const started = sendFirst(engine, created, effect).then(async (result): Promise<StartResult> => {
    if (result !== undefined && isHandedOut) await failRefusedStart(engine, created, effect, result.refused);
    return result;
  });
  engine.background(started);
  // The record is there for whoever comes after a store that is away now.
  const settled = started.catch(orStoreUnavailable);
  const result = await within(settled, tool.task.ackMs, { clock: engine.clock, signal: request.signal });
  isHandedOut = true;
  if (result !== undefined) {
    await dropRefused(engine, created, effect, result.refused);
    throw result.refused;
  }
  if (request.signal?.aborted === true) {
    // A client that has minted the ID can look, and is to see that its cancellation counts.
    const isFinal = request.taskId !== undefined;
    const reason = "the caller was gone before the answer";
    await cancelTask(engine, created.taskId, { operator: true }, { reason, isFinal });
    throw callerGone();
  }
  const record = await engine.store
    .read(created.taskId)
    .catch((error: unknown) => orStoreUnavailable(error) ?? created);
  if (record === undefined) throw taskNotFound();
  return record;
};

/** A process that was frozen here may have been followed by another, which has taken up the start: what that one has stays. */
const dropRefused = async (
  engine: EngineContext,
  created: TaskRecord,
  effect: Effect,
  refused: BridgeError,
): Promise<void> => {
  const held = await engine.store.read(created.taskId);
  if (held === undefined) return;
  if (!(await removeUntouched(engine, held))) return failRefusedStart(engine, created, effect, refused);
  engine.audit({ kind: "start_refused", ...aboutTask(created), message: refused.message });
};

/** Throws what is no fault of the store. */
const orStoreUnavailable = (error: unknown): undefined => {
  if (!isStoreUnavailable(error)) throw error;
  return undefined;
};

/** A task that another call is starting, once its start is settled or that call has been answered; undefined: it is gone. */
const awaitStart = async (
  engine: EngineContext,
  tool: ResolvedTool,
  record: TaskRecord,
  signal?: AbortSignal,
): Promise<TaskRecord | undefined> => {
  const isStarting = (current: TaskRecord): boolean => current.effects.some((effect) => effect.kind === "start");
  if (isStarting(record) && engine.store.now() <= record.createdAt + tool.task.ackMs + 1_000) {
    let unsubscribe: () => void = () => {};
    const settled = new Promise<void>((resolve) => {
      const read = async (): Promise<void> => {
        const current = await engine.store.read(record.taskId);
        if (current === undefined || !isStarting(current)) resolve();
      };
      unsubscribe = engine.hub.subscribe(record.taskId, () => engine.background(read()));
    });
    await within(settled, tool.task.ackMs, { clock: engine.clock, signal });
    unsubscribe();
  }
  if (signal?.aborted === true) throw callerGone();
  return engine.store.read(record.taskId);
};

const callerGone = (): BridgeError => new BridgeError("denied", "the caller was gone before the answer");

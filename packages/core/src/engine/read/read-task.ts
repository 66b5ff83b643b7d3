import { BridgeError } from "../../contract/bridge-error.ts";
import { invalidInput } from "../../contract/misconfigured.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { ListFilter, ListPage } from "../../contract/task-store.ts";
import { within } from "../../contract/wait.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { type Access, requireVisible } from "../context/ownership.ts";
import type { OutputPart, TaskView } from "../context/task-engine.ts";
import { taskNotFound } from "../context/task-id.ts";
import type { InspectScheduler } from "../inspect/inspect-scheduler.ts";
import { isScoped } from "../state/client-task-id.ts";
import { resolveTask, showTask } from "../state/resolve-task.ts";

/** The record as this caller sees it, with what else is known of it, but for its output. */
export const toBareView = (scheduler: InspectScheduler, record: TaskRecord, access: Access): TaskView => {
  const staleSince = scheduler.staleSince(record);
  return {
    record: showTask(record, access),
    pollIntervalMs: scheduler.intervalOf(record),
    isClientMinted: isScoped(record.taskId),
    ...(staleSince === undefined ? {} : { staleSince }),
  };
};

/** The record as a wire needs it, with the beginning of its output. */
export const toView = async (
  engine: EngineContext,
  scheduler: InspectScheduler,
  record: TaskRecord,
  access: Access,
): Promise<TaskView> => {
  const view = toBareView(scheduler, record, access);
  if (record.output === undefined) return view;
  const chunk = await engine.store.readPayload(record.taskId, record.output.payload ?? "output", {
    offset: 0,
    length: engine.limits.maxInlineResultBytes,
  });
  // Purged between the two reads.
  if (chunk === undefined) throw taskNotFound();
  return { ...view, output: chunk.bytes };
};

/** The record of a caller's ID, looked at anew when that is due. */
export const readFresh = async (
  engine: EngineContext,
  scheduler: InspectScheduler,
  id: unknown,
  access: Access,
): Promise<TaskRecord> => {
  const record = await resolveTask(engine, id, access);
  const inspection = scheduler.refresh(record);
  if (inspection === undefined) return record;
  await within(inspection, engine.limits.readWaitMs, { clock: engine.clock });
  return requireVisible(await engine.store.read(record.taskId), access);
};

/** See `TaskEngine.readOutput`. */
export const readOutput = async (
  engine: EngineContext,
  id: unknown,
  access: Access,
  range: { readonly offset: number; readonly length: number },
): Promise<OutputPart> => {
  const record = await resolveTask(engine, id, access);
  if (record.output === undefined)
    throw new BridgeError("unsupported", `the task has no result to read: it is ${record.state}`);
  for (const [name, minimum] of [
    ["offset", 0],
    ["length", 1],
  ] as const) {
    if (!Number.isSafeInteger(range[name]) || range[name] < minimum)
      throw invalidInput(name, `a whole number of at least ${minimum} is needed, got ${range[name]}`);
  }
  if (range.offset > record.output.bytes)
    throw invalidInput("offset", `the result has ${record.output.bytes} bytes, got ${range.offset}`);
  const chunk = await engine.store.readPayload(record.taskId, record.output.payload ?? "output", range);
  if (chunk === undefined) throw taskNotFound();
  return { bytes: chunk.bytes, totalBytes: record.output.bytes, mediaType: record.output.mediaType };
};

/** The most tasks that one page holds, whatever is asked. */
const largestPage = 100;

/** See `TaskEngine.listTasks`. */
export const listTasks = async (
  engine: EngineContext,
  access: Access,
  filter: ListFilter,
  cursor: string | undefined,
  limit: number,
): Promise<ListPage> => {
  if ("owner" in access && access.owner === null) {
    throw new BridgeError(
      "unsupported",
      "tasks can be listed only where callers are authenticated, and this server does not authenticate them",
    );
  }
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw invalidInput("limit", `a whole number of at least 1 is needed, got ${limit}`);
  const page = await engine.store.list(access, filter, cursor, Math.min(limit, largestPage));
  // What was deleted is gone for its owner, also where expired tasks are asked for. That may leave a page empty that has a
  // cursor, as `TaskEngine.listTasks` says.
  return "operator" in access ? page : { ...page, records: page.records.filter(({ deleted }) => deleted !== true) };
};

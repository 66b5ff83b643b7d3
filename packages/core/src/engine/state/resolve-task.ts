import { BridgeError } from "../../contract/bridge-error.ts";
import type { TaskId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { type Access, isOf, localOwner, requireVisible } from "../context/ownership.ts";
import { isServerMinted, parseTaskId, taskNotFound } from "../context/task-id.ts";
import { isClientId, isScoped, toPublicId, toScopedId } from "./client-task-id.ts";

/**
 * The record that a caller means by an ID. Every verb finds its task by this and no other way, so that all agree on who may
 * name what. One read, but for IDs that may be of either kind.
 */
export const resolveTask = async (engine: EngineContext, id: unknown, access: Access): Promise<TaskRecord> =>
  requireVisible(await findTask(engine, id, access), access);

/** Likewise, also of a task that has expired or was deleted: for operators, who want to know what becomes of it. */
export const findTask = async (engine: EngineContext, id: unknown, access: Access): Promise<TaskRecord> => {
  for (const taskId of meantBy(parseTaskId(id), access)) {
    const record = await engine.store.read(taskId);
    if (record !== undefined && isOf(record, access)) return record;
  }
  if ("operator" in access) return findByPublicId(engine, parseTaskId(id));
  throw taskNotFound();
};

const pageSize = 100;
/** So many of the newest tasks are looked through: a store finds a task by its whole ID only. */
const maxSearched = 10_000;

/**
 * The record that its owner knows by this ID, whoever that is: it is the ID that owners, and texts for them, have. Only an
 * operator who leaves the scope out has to wait for this search.
 */
const findByPublicId = async (engine: EngineContext, publicId: TaskId): Promise<TaskRecord> => {
  if (isScoped(publicId) || !isClientId(publicId)) throw taskNotFound();
  const found: TaskRecord[] = [];
  let cursor: string | undefined;
  let searched = 0;
  do {
    const page = await engine.store.list({ operator: true }, { includeExpired: true }, cursor, pageSize);
    found.push(...page.records.filter(({ taskId }) => isScoped(taskId) && toPublicId(taskId) === publicId));
    searched += page.records.length;
    cursor = page.cursor;
  } while (cursor !== undefined && searched < maxSearched);
  const [only, ...others] = found;
  const taskIds = found.map(({ taskId }) => taskId);
  const shown = taskIds.map((taskId) => `\n  ${taskId}`).join("");
  if (others.length > 0) {
    throw new BridgeError("conflict", `several owners have a task ${publicId}; name one:${shown}`, {
      data: { taskIds },
    });
  }
  if (cursor !== undefined) {
    const searched = `only the newest ${maxSearched} tasks were looked through for a task ${publicId}`;
    throw new BridgeError("conflict", `${searched}; give its whole ID, OWNER~${publicId}${shown}`, {
      data: { taskIds },
    });
  }
  if (only === undefined) throw taskNotFound();
  return only;
};

/** What records may be meant, the likeliest first. */
const meantBy = (taskId: TaskId, access: Access): readonly TaskId[] => {
  if ("operator" in access) return isScoped(taskId) ? [taskId] : [taskId, toScopedId(localOwner, taskId)];
  // A scope is nothing that a caller can say; theirs is their own.
  if (isScoped(taskId)) return [];
  if (access.owner === null) return [taskId];
  const scoped = toScopedId(access.owner, taskId);
  // A client may mint what looks like ours; somebody else's of the same name is then not in its way.
  return isServerMinted(taskId) ? [taskId, scoped] : [scoped];
};

/** The record as this caller may see it: under the ID that they know it by. */
export const showTask = (record: TaskRecord, access: Access): TaskRecord =>
  "operator" in access || !isScoped(record.taskId) ? record : { ...record, taskId: toPublicId(record.taskId) };

import {
  type AdapterId,
  BridgeError,
  type CreateOptions,
  createCursor,
  type ExecutionRef,
  type ListFilter,
  type ListPage,
  type ListScope,
  parseCursor,
  revisionConflict,
  type StartKey,
  type TaskId,
  type TaskRecord,
  type UniqueKey,
} from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";

/** Records as JSON, with what is searched for in columns beside. The caller provides the transaction. */
export interface TaskTable {
  read(taskId: TaskId): TaskRecord | undefined;
  /** The rowid. With a revision: throws `conflict` as `TaskStore.remove` promises. */
  find(taskId: TaskId, expectedRevision?: number): number | undefined;
  /** `text` is the record as JSON. Throws `conflict` and `limit_exceeded` as `TaskStore.create` promises. Returns the rowid. */
  insert(record: TaskRecord, text: string, options: CreateOptions): number;
  /** Throws `conflict` and `not_found` as `TaskStore.revise` promises. Returns the rowid. */
  update(record: TaskRecord, text: string, expectedRevision: number): number;
  delete(taskId: TaskId): void;
  list(scope: ListScope, filter: ListFilter, cursor: string | undefined, limit: number): ListPage;
  due(limit: number): TaskRecord[];
  nextWakeAt(): number | null;
  findByExecution(
    adapterId: AdapterId,
    by: { readonly ref: ExecutionRef } | { readonly key: StartKey },
  ): TaskRecord | undefined;
}

/** The most IDs that are named in a `limit_exceeded`. */
const maxNamedTasks = 100;
/** Lapsed keys that a create clears away; more than it can add, so that they do not pile up. */
const keysPurged = 20;

const columnsOf = (record: TaskRecord) => ({
  owner: record.owner,
  tool: record.tool,
  adapter_id: record.adapterId,
  start_key: record.startKey,
  ref: record.ref ?? null,
  created_at: record.createdAt,
  wake_at: record.wakeAt,
  slot_held: record.slotHeld ? 1 : 0,
  expired: record.expired === true ? 1 : 0,
});
type Columns = ReturnType<typeof columnsOf>;
const columnNames = [
  "owner",
  "tool",
  "adapter_id",
  "start_key",
  "ref",
  "created_at",
  "wake_at",
  "slot_held",
  "expired",
] as const;

const selectColumns = `SELECT id, revision, ${columnNames.join(", ")} FROM tasks WHERE task_id = ?`;
const insertRow = `INSERT INTO tasks (task_id, revision, record, ${columnNames.join(", ")})
  VALUES (@task_id, @revision, @record, ${columnNames.map((name) => `@${name}`).join(", ")})`;

const parse = (text: unknown): TaskRecord => JSON.parse(text as string);

export const createTaskTable = ({ prepare }: Pick<Connection, "prepare">, now: () => number): TaskTable => {
  const find = (taskId: TaskId, expectedRevision?: number): number | undefined => {
    const found = prepare("SELECT id, revision FROM tasks WHERE task_id = ?").get(taskId) as
      | { readonly id: number; readonly revision: number }
      | undefined;
    if (found !== undefined && expectedRevision !== undefined && found.revision !== expectedRevision)
      throw revisionConflict("remove", taskId, found.revision, expectedRevision);
    return found?.id;
  };

  const assertFree = (taskId: TaskId, uniqueKeys: readonly UniqueKey[]): void => {
    const heldBy = prepare("SELECT task_id FROM unique_keys WHERE key = ? AND (until IS NULL OR until > ?)").pluck();
    const holder =
      find(taskId) === undefined
        ? uniqueKeys.map(({ key }) => heldBy.get(key, now())).find((held) => held !== undefined)
        : taskId;
    if (holder !== undefined) {
      throw new BridgeError("conflict", `taken by task ${holder}`, { operation: "create", data: { taskId: holder } });
    }
  };

  const assertBelow = (scope: "owner" | "tool", max: number | null, record: TaskRecord): void => {
    if (max === null) return;
    const isOpen = scope === "owner" ? "slot_held = 1 AND owner IS ?" : "slot_held = 1 AND tool = ?";
    const open = Number(prepare(`SELECT count(*) FROM tasks WHERE ${isOpen}`).pluck().get(record[scope]));
    if (open < max) return;
    // Only the caller's own: an ID is somebody else's business, and without owners it is what grants access. Nor one that
    // no verb takes any more.
    const own = prepare(
      `SELECT task_id FROM tasks WHERE ${isOpen} AND owner = ? AND expired = 0 ORDER BY created_at DESC LIMIT ${maxNamedTasks}`,
    );
    throw new BridgeError("limit_exceeded", `the ${scope} has ${open} open tasks of at most ${max}`, {
      operation: "create",
      data: { scope, openTaskIds: own.pluck().all(record[scope], record.owner) },
    });
  };

  const purgeLapsedKeys = (): void => {
    const lapsed = `SELECT key FROM unique_keys WHERE until IS NOT NULL AND until <= ? LIMIT ${keysPurged}`;
    prepare(`DELETE FROM unique_keys WHERE key IN (${lapsed})`).run(now());
  };

  return {
    find,

    read: (taskId) => {
      const text = prepare("SELECT record FROM tasks WHERE task_id = ?").pluck().get(taskId);
      return text === undefined ? undefined : parse(text);
    },

    insert: (record, text, { uniqueKeys, maxOpenForOwner, maxOpenForTool }) => {
      purgeLapsedKeys();
      // Keys before limits: a repeated call is to find its task also when the owner is full.
      assertFree(record.taskId, uniqueKeys);
      if (record.slotHeld) {
        assertBelow("owner", maxOpenForOwner, record);
        assertBelow("tool", maxOpenForTool, record);
      }
      const putKey = prepare(
        "INSERT OR REPLACE INTO unique_keys (key, task_id, until, held_for_ms) VALUES (?, ?, ?, ?)",
      );
      for (const { key, until, heldForMs } of uniqueKeys)
        putKey.run(key, record.taskId, until ?? null, heldForMs ?? null);
      const row = {
        task_id: record.taskId,
        revision: record.revision,
        record: text,
        ...columnsOf(record),
      };
      return Number(prepare(insertRow).run(row).lastInsertRowid);
    },

    update: (record, text, expectedRevision) => {
      const { taskId } = record;
      const stored = prepare(selectColumns).get(taskId) as
        | (Columns & { readonly id: number; readonly revision: number })
        | undefined;
      if (stored === undefined)
        throw new BridgeError("not_found", `there is no task ${taskId}`, { operation: "revise" });
      if (stored.revision !== expectedRevision)
        throw revisionConflict("revise", taskId, stored.revision, expectedRevision);
      const columns = columnsOf(record);
      // Only what differs: SQLite rewrites the index of every column that a statement names.
      const changed = columnNames.filter((name) => columns[name] !== stored[name]);
      const assignments = ["revision", "record", ...changed].map((name) => `${name} = @${name}`).join(", ");
      const row = { id: stored.id, revision: record.revision, record: text, ...columns };
      prepare(`UPDATE tasks SET ${assignments} WHERE id = @id`).run(row);
      return stored.id;
    },

    delete: (taskId) => {
      prepare("DELETE FROM tasks WHERE task_id = ?").run(taskId);
      // Once: from now on it is a key like any other that lapses.
      prepare(
        `UPDATE unique_keys SET until = max(coalesce(until, 0), ? + held_for_ms), held_for_ms = NULL
          WHERE task_id = ? AND held_for_ms IS NOT NULL AND (until IS NULL OR until > ?)`,
      ).run(now(), taskId, now());
      prepare("DELETE FROM unique_keys WHERE task_id = ? AND (until IS NULL OR until <= ?)").run(taskId, now());
    },

    list: (scope, filter, cursor, limit) => {
      const conditions: string[] = [];
      const values: unknown[] = [];
      const where = (condition: string, ...bound: unknown[]): void => {
        conditions.push(condition);
        values.push(...bound);
      };
      if (!("operator" in scope)) where("owner IS ?", scope.owner);
      if (filter.adapterId !== undefined) where("adapter_id = ?", filter.adapterId);
      if (filter.tool !== undefined) where("tool = ?", filter.tool);
      if (filter.slotHeld !== undefined) where(`slot_held = ${filter.slotHeld ? 1 : 0}`);
      if (filter.includeExpired !== true) where("expired = 0");
      if (cursor !== undefined) {
        const { createdAt, taskId } = parseCursor(cursor, scope, filter);
        where("(created_at, task_id) < (?, ?)", createdAt, taskId);
      }
      const only = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
      // Left to itself the planner walks all records by age.
      const by = "operator" in scope ? (filter.adapterId === undefined ? "tool" : "adapter") : "owner";
      const index = filter.slotHeld === true ? `INDEXED BY tasks_open_by_${by}` : "";
      const sql = `SELECT record FROM tasks ${index} ${only} ORDER BY created_at DESC, task_id DESC LIMIT ?`;
      // One more than asked tells whether there is a next page.
      const found = prepare(sql)
        .pluck()
        .all(...values, limit + 1);
      const records = found.slice(0, limit).map(parse);
      const last = records.at(-1);
      return found.length > limit && last !== undefined
        ? { records, cursor: createCursor(last, scope, filter) }
        : { records };
    },

    due: (limit) =>
      prepare("SELECT record FROM tasks WHERE wake_at <= ? ORDER BY wake_at LIMIT ?")
        .pluck()
        .all(now(), limit)
        .map(parse),

    nextWakeAt: () =>
      prepare("SELECT min(wake_at) FROM tasks WHERE wake_at IS NOT NULL").pluck().get() as number | null,

    findByExecution: (adapterId, by) => {
      const [column, value] = "ref" in by ? ["ref", by.ref] : ["start_key", by.key];
      // The plus signs keep the planner from walking the index by age instead.
      const sql = `SELECT record FROM tasks WHERE ${column} = ? AND adapter_id = ? ORDER BY +created_at DESC, +task_id DESC LIMIT 1`;
      const text = prepare(sql).pluck().get(value, adapterId);
      return text === undefined ? undefined : parse(text);
    },
  };
};

import {
  BridgeError,
  type CreateOptions,
  createCursor,
  type ListFilter,
  type ListScope,
  maxCreateMs,
  parseCursor,
  revisionConflict,
  type TaskId,
  type TaskRecord,
  type TaskStore,
} from "@taskbridge/core/store";
import { createRemoval } from "./create-removal.ts";
import type { StoreParts } from "./store-parts.ts";
import { toColumns, toCreateParameters, toPayloadParameters } from "./task-parameters.ts";
import { isId, toIdKey, toKey } from "./to-key.ts";
import { toNumber } from "./to-number.ts";
import { toOnPrimary } from "./to-on-primary.ts";

type TaskTable = Pick<
  TaskStore,
  "create" | "read" | "revise" | "remove" | "list" | "due" | "nextWakeAt" | "findByExecution"
>;

interface RecordRow {
  readonly record: string;
}

interface CreateRow {
  readonly outcome: "done" | "conflict" | "owner" | "tool" | "late";
  readonly holder: TaskId | null;
  readonly open_count: string | null;
  readonly open_ids: readonly TaskId[] | null;
}

interface ReviseRow {
  readonly outcome: "done" | "conflict" | "not_found";
  readonly found_revision: number | null;
  readonly leaves_garbage: boolean;
}

/** More than ever share the 64 bits by which an execution is found. */
const maxCollisions = 8;

/** By how much we may be wrong about the server's clock (milliseconds); whoever looks for what a failed create has left looks later than that, too. */
const graceMs = 1_000;

const parse = (text: string): TaskRecord => JSON.parse(text);

/** A call of a function of the schema, with so many arguments. */
const toCall = (name: string, count: number): string =>
  `SELECT * FROM ${name}(${Array.from({ length: count }, (_, index) => `$${index + 1}`).join(", ")})`;

/** Each verb is one statement, and so one round trip and one transaction. */
export const createTaskTable = (parts: StoreParts): TaskTable => {
  const { connection, schema, clock, timeoutMs, changed, sweep } = parts;
  const { query } = connection;
  const onPrimary = toOnPrimary(schema);
  const readRecords = async (
    operation: string,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly TaskRecord[]> =>
    (await query<RecordRow>(operation, { text, values, isRead: true })).map(({ record }) => parse(record));

  return {
    create: async (record, options) => {
      assertKeepable(record.taskId);
      const text = JSON.stringify({ ...record, revision: 1 });
      const deadline = clock.now() + Math.min(timeoutMs + graceMs, maxCreateMs);
      const values = [...toCreateParameters(schema, record, text, options), deadline];
      const [row] = await query<CreateRow>("create", {
        text: toCall(`${schema}.create_task`, values.length),
        values,
        mayWait: isContended(record, options),
      });
      // We are still there to hear it, so that it is our idea of the server's clock that is wrong.
      if (row?.outcome === "late") void clock.compare();
      assertCreated(row, options);
      changed(record.taskId);
      return parse(text);
    },

    read: async (taskId) => {
      const [record] = await readRecords(
        "read",
        `SELECT record FROM ${schema}.tasks WHERE task_id = $1 AND ${onPrimary}`,
        [toIdKey(taskId)],
      );
      return record;
    },

    revise: async (record, expectedRevision, { payloads = [], dropPayloads = [], durable = true } = {}) => {
      const { taskId } = record;
      const text = JSON.stringify({ ...record, revision: expectedRevision + 1 });
      const [dropped, dropsAll] = dropPayloads === "all" ? [[], true] : [dropPayloads.map(toKey), false];
      const columns = [...toColumns(record), text];
      const values = [
        ...[toIdKey(taskId), expectedRevision, ...columns],
        ...[dropped, dropsAll, ...toPayloadParameters(payloads), durable],
      ];
      const [row] = await query<ReviseRow>("revise", { text: toCall(`${schema}.revise_task`, values.length), values });
      assertRevised(row, taskId, expectedRevision);
      changed(taskId);
      if (row?.leaves_garbage) void sweep();
      return parse(text);
    },

    remove: createRemoval(parts),

    list: async (scope, filter, cursor, limit) => {
      const { text, values } = toListQuery(schema, scope, filter, cursor, limit);
      const found = await readRecords("list", text, values);
      const records = found.slice(0, limit);
      const last = records.at(-1);
      return found.length > limit && last !== undefined
        ? { records, cursor: createCursor(last, scope, filter) }
        : { records };
    },

    due: async (limit, claimForMs) => {
      if (claimForMs !== undefined) {
        const text = `SELECT record FROM ${schema}.claim_due($1, $2) AS record`;
        const rows = await query<RecordRow>("due", { text, values: [limit, claimForMs] });
        return rows.map(({ record }) => parse(record));
      }
      // Its own time rather than now_ms(), which may change while it runs and so finds no index.
      const text = `SELECT t.record FROM (
          SELECT task_id, wake_at FROM ${schema}.wakes
            WHERE wake_at <= (extract(epoch FROM statement_timestamp()) * 1000)::double precision AND ${onPrimary}
            ORDER BY wake_at LIMIT $1) AS due
        JOIN ${schema}.tasks t USING (task_id) ORDER BY due.wake_at`;
      return readRecords("due", text, [limit]);
    },

    nextWakeAt: async () => {
      const text = `SELECT min(wake_at) AS "wakeAt" FROM ${schema}.wakes WHERE ${onPrimary}`;
      const [row] = await query<{ readonly wakeAt: number | null }>("nextWakeAt", { text, isRead: true });
      return row?.wakeAt ?? null;
    },

    findByExecution: async (adapterId, by) => {
      const [column, value] =
        "ref" in by ? ["ref_hash", toNumber("ref", by.ref)] : ["start_key_hash", toNumber("start", by.key)];
      // Materialized, or the planner might walk all records by age instead.
      const text = `WITH found AS MATERIALIZED (
          SELECT created_at, task_id, record FROM ${schema}.tasks WHERE ${column} = $1 AND adapter_id = $2 AND ${onPrimary})
        SELECT record FROM found ORDER BY created_at DESC, task_id DESC LIMIT ${maxCollisions}`;
      const found = await readRecords("findByExecution", text, [value, toKey(adapterId)]);
      return found.find((record) => ("ref" in by ? record.ref === by.ref : record.startKey === by.key));
    },
  };
};

/** A page's statement; one more row than asked tells whether there is a next page. Throws `invalid_input` for a foreign cursor. */
const toListQuery = (
  schema: string,
  scope: ListScope,
  filter: ListFilter,
  cursor: string | undefined,
  limit: number,
): { readonly text: string; readonly values: readonly unknown[] } => {
  const conditions: string[] = [toOnPrimary(schema)];
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  // "IS NOT DISTINCT FROM" finds no index.
  if ("owner" in scope) conditions.push(scope.owner === null ? "owner IS NULL" : `owner = ${bind(toKey(scope.owner))}`);
  if (filter.adapterId !== undefined) conditions.push(`adapter_id = ${bind(toKey(filter.adapterId))}`);
  if (filter.tool !== undefined) conditions.push(`tool = ${bind(toKey(filter.tool))}`);
  if (filter.slotHeld !== undefined) conditions.push(filter.slotHeld ? "slot_held" : "NOT slot_held");
  if (filter.includeExpired !== true) conditions.push("NOT expired");
  if (cursor !== undefined) {
    const { createdAt, taskId } = parseCursor(cursor, scope, filter);
    conditions.push(`(created_at, task_id) < (${bind(createdAt)}, ${bind(taskId)})`);
  }
  const text = `SELECT record FROM ${schema}.tasks WHERE ${conditions.join(" AND ")} ORDER BY created_at DESC, task_id DESC LIMIT ${bind(limit + 1)}`;
  return { text, values };
};

const assertKeepable = (taskId: TaskId): void => {
  if (isId(taskId)) return;
  throw new BridgeError("invalid_input", "a task ID must be well-formed text of at most 1024 bytes without NUL", {
    operation: "create",
  });
};

/** Whether it takes a lock that others may want too. */
const isContended = (
  { slotHeld }: Pick<TaskRecord, "slotHeld">,
  { uniqueKeys, maxOpenForOwner, maxOpenForTool }: CreateOptions,
): boolean => uniqueKeys.length > 0 || (slotHeld && (maxOpenForOwner !== null || maxOpenForTool !== null));

const assertCreated = (row: CreateRow | undefined, { maxOpenForOwner, maxOpenForTool }: CreateOptions): void => {
  if (row === undefined || row.outcome === "done") return;
  const refuse = (code: "conflict" | "limit_exceeded", message: string, data: Record<string, unknown>): BridgeError =>
    new BridgeError(code, message, { operation: "create", data });
  if (row.outcome === "late")
    throw new BridgeError("unavailable", "the create came to the server later than it may", { operation: "create" });
  if (row.outcome === "conflict") throw refuse("conflict", `taken by task ${row.holder}`, { taskId: row.holder });
  const max = row.outcome === "owner" ? maxOpenForOwner : maxOpenForTool;
  throw refuse("limit_exceeded", `the ${row.outcome} has ${row.open_count} open tasks of at most ${max}`, {
    scope: row.outcome,
    openTaskIds: row.open_ids ?? [],
  });
};

const assertRevised = (row: ReviseRow | undefined, taskId: TaskId, expectedRevision: number): void => {
  if (row === undefined || row.outcome === "done") return;
  if (row.outcome === "not_found")
    throw new BridgeError("not_found", `there is no task ${taskId}`, { operation: "revise" });
  throw revisionConflict("revise", taskId, row.found_revision as number, expectedRevision);
};

import { removedIdReservedMs, revisionConflict, type TaskId, type TaskStore } from "@taskbridge/core/store";
import type { StoreParts } from "./store-parts.ts";
import { toIdKey } from "./to-key.ts";

/** Tasks removed by one statement: some ten milliseconds of the server's. */
const maxBatch = 100;
/** Statements under way. The connections beside are for whoever reads. */
const maxStatements = 2;

/** A removal that waits for its turn. */
interface Asked {
  readonly taskId: TaskId;
  readonly expected: number | undefined;
  resolve(wasThere: boolean): void;
  reject(error: unknown): void;
}

interface RemovedRow {
  readonly position: string;
  readonly revision: number;
  /** Null: it was at another revision, and is still there. */
  readonly removed: { readonly was_there: boolean; readonly leaves_garbage: boolean } | null;
}

/**
 * `TaskStore.remove`, where calls at the same time share a statement and so a sync: removing is what comes by the hundred
 * thousand, and nobody waits for a single one.
 */
export const createRemoval = ({ connection, schema, changed, sweep }: StoreParts): TaskStore["remove"] => {
  // One row after the other, found by its key and locked before it is judged, which sees what was committed meanwhile. What
  // follows CASE is carried out for no other. `begin_write` comes before the first lock, for it limits the wait for one.
  const textOf = (lock: string): string => `SELECT asked.position, found.revision, to_jsonb(
        CASE WHEN asked.expected IS NULL OR found.revision = asked.expected
          THEN ${schema}.remove_task(found.task_id, $3) END) AS removed
      FROM unnest(CASE WHEN ${schema}.begin_write(true) IS NOT NULL THEN $1::text[] END, $2::double precision[])
        WITH ORDINALITY AS asked (task_id, expected, position)
      CROSS JOIN LATERAL (SELECT t.task_id, t.revision FROM ${schema}.tasks t WHERE t.task_id = asked.task_id
        ${lock}) AS found`;
  const atOnce = textOf("FOR UPDATE SKIP LOCKED");
  const inTurn = textOf("FOR UPDATE");
  const waiting: Asked[] = [];
  let underWay = 0;
  let isPlanned = false;

  /** Resolves with those that it found no record of to lock. */
  const removeTogether = async (text: string, asked: readonly Asked[]): Promise<readonly Asked[]> => {
    const values = [
      asked.map(({ taskId }) => toIdKey(taskId)),
      asked.map(({ expected }) => expected ?? null),
      removedIdReservedMs,
    ];
    const rows = await connection.query<RemovedRow>("remove", { text, values });
    const found = new Map(rows.map((row) => [asked[Number(row.position) - 1], row]));
    for (const [one, { revision, removed }] of found) {
      if (one === undefined) continue;
      if (removed?.was_there === true) changed(one.taskId);
      if (removed === null) one.reject(revisionConflict("remove", one.taskId, revision, one.expected));
      else one.resolve(removed.was_there);
    }
    if (rows.some(({ removed }) => removed?.leaves_garbage === true)) void sweep();
    return asked.filter((one) => !found.has(one));
  };

  const sendSome = async (): Promise<void> => {
    // In the same order for everybody, so that no two statements wait for each other.
    const asked = waiting.splice(0, maxBatch).sort((a, b) => (a.taskId < b.taskId ? -1 : 1));
    underWay += 1;
    try {
      // Who holds a record for long holds up those who want that one, and none of the others.
      const held = await removeTogether(atOnce, asked);
      const missing = held.length === 0 ? [] : await removeTogether(inTurn, held);
      for (const { resolve } of missing) resolve(false);
    } catch (error) {
      // Nothing to those that have their answer.
      for (const { reject } of asked) reject(error);
    } finally {
      underWay -= 1;
      sendOn();
    }
  };

  const sendOn = (): void => {
    isPlanned = false;
    while (waiting.length > 0 && underWay < maxStatements) void sendSome();
  };

  return (taskId, expected) =>
    new Promise((resolve, reject) => {
      waiting.push({ taskId, expected, resolve, reject });
      if (isPlanned || underWay >= maxStatements) return;
      isPlanned = true;
      setImmediate(sendOn);
    });
};

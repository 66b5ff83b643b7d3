import { createHash } from "node:crypto";
import type { Client } from "pg";
import type { SampleTask } from "./sample-task.ts";
import type { FillTasks } from "./seed.ts";

/** As the store hashes what executions are found by; `checkSeed` notices when it does so otherwise. */
const hashOf = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest().readBigInt64BE().toString();

const insertTasks = `INSERT INTO taskbridge.tasks (task_id, revision, owner, tool, adapter_id, start_key_hash, ref_hash, created_at, slot_held, expired, record)
  SELECT task_id, 1, owner, tool, adapter_id, start_key_hash, ref_hash, created_at, slot_held, expired, record
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::float8[], $8::boolean[], $9::boolean[], $10::text[])
    AS added (task_id, owner, tool, adapter_id, start_key_hash, ref_hash, created_at, slot_held, expired, record)`;

const insertWakes = `INSERT INTO taskbridge.wakes (task_id, wake_at) SELECT * FROM unnest($1::text[], $2::float8[])`;

const insertPayloads = `INSERT INTO taskbridge.payloads (task_id, name, total_bytes, first_bytes)
  SELECT task_id, name, length(bytes), bytes FROM unnest($1::text[], $2::text[], $3::bytea[]) AS added (task_id, name, bytes)`;

interface Index {
  readonly name: string;
  readonly definition: string;
}

/** Those that no constraint needs. */
const selectIndexes = `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
  WHERE indrelid IN ('taskbridge.tasks'::regclass, 'taskbridge.wakes'::regclass) AND NOT indisprimary`;

/**
 * Writes the rows of many tasks at once, some ten times faster than the store does one after the other. While a whole
 * population is written its indexes are away, and made at the end in one go.
 */
export const writePostgres = (client: Client): FillTasks => ({
  write: async (tasks) => {
    await client.query("BEGIN");
    await client.query(insertTasks, columnsOf(tasks));
    const awake = tasks.flatMap(({ record: { taskId, wakeAt } }) => (wakeAt === null ? [] : [{ taskId, wakeAt }]));
    await client.query(insertWakes, [awake.map(({ taskId }) => taskId), awake.map(({ wakeAt }) => wakeAt)]);
    const payloads = tasks.flatMap(({ record, payloads }) =>
      payloads.map((one) => ({ taskId: record.taskId, ...one })),
    );
    await client.query(insertPayloads, [
      payloads.map(({ taskId }) => taskId),
      payloads.map(({ name }) => name),
      payloads.map(({ bytes }) => bytes),
    ]);
    await client.query("COMMIT");
  },
  withoutIndexes: async (fill) => {
    const { rows } = await client.query<Index>(selectIndexes);
    for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
    await fill();
    for (const { definition } of rows) await client.query(definition);
  },
});

const columnsOf = (tasks: readonly SampleTask[]): unknown[][] => {
  const records = tasks.map(({ record }) => record);
  return [
    records.map(({ taskId }) => taskId),
    records.map(({ owner }) => owner),
    records.map(({ tool }) => tool),
    records.map(({ adapterId }) => adapterId),
    records.map(({ startKey }) => hashOf("start", startKey)),
    records.map(({ ref }) => (ref === undefined ? null : hashOf("ref", ref))),
    records.map(({ createdAt }) => createdAt),
    records.map(({ slotHeld }) => slotHeld),
    records.map(({ expired }) => expired === true),
    records.map((record) => JSON.stringify({ ...record, revision: 1 })),
  ];
};

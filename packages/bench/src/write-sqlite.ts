import Database from "better-sqlite3";
import type { SampleTask } from "./sample-task.ts";
import type { FillTasks } from "./seed.ts";

const insertTask = `INSERT INTO tasks (task_id, revision, record, owner, tool, adapter_id, start_key, ref, created_at, wake_at, slot_held, expired)
  VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const insertPayload = "INSERT INTO payloads (task, name, total_bytes) VALUES (?, ?, ?)";
const insertChunk = "INSERT INTO payload_chunks (payload, position, bytes) VALUES (?, 0, ?)";
const selectIndexes = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";

interface Index {
  readonly name: string;
  readonly sql: string;
}

/**
 * Writes the rows of many tasks in one transaction beside the store, unsynced. While a whole population
 * is written its indexes are away, and made at the end in one go.
 */
export const writeSqlite = (path: string): FillTasks => {
  const inDatabase = <Result>(work: (db: Database.Database) => Result): Result => {
    const db = new Database(path);
    try {
      db.pragma("synchronous = OFF");
      db.pragma("cache_size = -262144");
      return work(db);
    } finally {
      db.close();
    }
  };
  return {
    write: async (tasks) => inDatabase((db) => db.transaction(insertAll).immediate(db, tasks)),
    withoutIndexes: async (fill) => {
      const indexes = inDatabase((db) => db.prepare<[], Index>(selectIndexes).all());
      inDatabase((db) => db.exec(indexes.map(({ name }) => `DROP INDEX ${name};`).join("")));
      await fill();
      inDatabase((db) => db.exec(indexes.map(({ sql }) => `${sql};`).join("")));
    },
  };
};

const insertAll = (db: Database.Database, tasks: readonly SampleTask[]): void => {
  const [putTask, putPayload, putChunk] = [insertTask, insertPayload, insertChunk].map((sql) => db.prepare(sql)) as [
    Database.Statement,
    Database.Statement,
    Database.Statement,
  ];
  for (const { record, payloads } of tasks) {
    const { lastInsertRowid: task } = putTask.run(
      ...[record.taskId, JSON.stringify({ ...record, revision: 1 }), record.owner, record.tool, record.adapterId],
      ...[record.startKey, record.ref ?? null, record.createdAt, record.wakeAt],
      ...[record.slotHeld ? 1 : 0, record.expired === true ? 1 : 0],
    );
    for (const { name, bytes } of payloads)
      putChunk.run(putPayload.run(task, name, bytes.length).lastInsertRowid, bytes);
  }
};

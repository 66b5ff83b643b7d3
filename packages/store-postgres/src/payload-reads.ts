import {
  assertRange,
  type PayloadChunk,
  type PayloadName,
  type PayloadRange,
  type TaskId,
} from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";
import { toIdKey, toKey } from "./to-key.ts";
import { toOnPrimary } from "./to-on-primary.ts";

interface ChunkRow {
  readonly total: string;
  readonly position: number;
  readonly bytes: Buffer | null;
}

/** Only the chunks that the range overlaps; the payload's own row also when it is none of them, for the size. */
const selectChunks = (schema: string): string => `
  SELECT p.total_bytes AS total, 0 AS position, CASE WHEN $3 = 0 THEN p.first_bytes END AS bytes
    FROM ${schema}.payloads p WHERE p.task_id = $1 AND p.name = $2 AND ${toOnPrimary(schema)}
  UNION ALL
  SELECT p.total_bytes, c.position, c.bytes
    FROM ${schema}.payloads p JOIN ${schema}.payload_chunks c ON c.content = p.content
    WHERE p.task_id = $1 AND p.name = $2 AND c.position BETWEEN $3 AND $4`;

/** Bytes of a payload in one row; a range read touches only the rows it overlaps. The same as in sql/000001-payloads.sql. */
const chunkBytes = 65_536;
const largestInteger = 2 ** 31 - 1;

export const readPayload = async (
  { query }: Connection,
  schema: string,
  taskId: TaskId,
  name: PayloadName,
  range: PayloadRange,
): Promise<PayloadChunk | undefined> => {
  assertRange(range);
  const { offset, length } = range;
  const [from, until] = [offset, offset + length - 1].map((at) =>
    Math.min(Math.floor(at / chunkBytes), largestInteger),
  );
  const rows = await query<ChunkRow>("readPayload", {
    text: selectChunks(schema),
    values: [toIdKey(taskId), toKey(name), from, until],
    isRead: true,
  });
  const [first] = rows;
  if (first === undefined) return undefined;
  const totalBytes = Number(first.total);
  const end = Math.min(totalBytes, offset + length);
  const bytes = new Uint8Array(Math.max(0, end - offset));
  for (const row of rows) {
    const start = row.position * chunkBytes;
    if (row.bytes === null || start >= end || start + row.bytes.length <= offset) continue;
    bytes.set(row.bytes.subarray(Math.max(0, offset - start), end - start), Math.max(0, start - offset));
  }
  return { bytes, totalBytes };
};

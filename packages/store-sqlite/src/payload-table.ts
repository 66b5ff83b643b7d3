import { BridgeError, isCount, type PayloadChunk, type PayloadName, type PayloadRange } from "@taskbridge/core/store";
import type { Connection } from "./connection.ts";

/** A range read touches only the chunks it overlaps, and a chunk costs some tens of microseconds. Part of the file format. */
export const chunkBytes: number = 64 * 1024;
/** So many chunks are deleted in one go (about a millisecond); a larger payload is unlinked and swept piece by piece. */
const chunksPerSweep = 16;

/** Payloads by the rowid of their task. All but `sweep` run inside a transaction of the caller. */
export interface PayloadTable {
  /** Replaces what was there. */
  write(task: number, name: PayloadName, bytes: Uint8Array): void;
  /** Throws `invalid_input` for an offset beyond the end. */
  writeAt(task: number, name: PayloadName, offset: number, bytes: Uint8Array): void;
  read(task: number, name: PayloadName, range: PayloadRange): PayloadChunk | undefined;
  drop(task: number, names: readonly PayloadName[] | "all"): void;
  /** Deletes what large dropped payloads have left, giving way to other work in between. Never rejects: what stays is swept later. */
  sweep(): Promise<void>;
}

interface PayloadRow {
  readonly id: number;
  readonly totalBytes: number;
}

export const createPayloadTable = ({ prepare, write }: Pick<Connection, "prepare" | "write">): PayloadTable => {
  /** May be true for nothing, after a transaction that was rolled back; and at first, for a process that died while sweeping. */
  let hasGarbage = true;

  const find = (task: number, name: PayloadName): PayloadRow | undefined =>
    prepare("SELECT id, total_bytes AS totalBytes FROM payloads WHERE task = ? AND name = ?").get(task, name) as
      | PayloadRow
      | undefined;

  const unlink = ({ id, totalBytes }: PayloadRow): void => {
    prepare("DELETE FROM payloads WHERE id = ?").run(id);
    if (totalBytes <= chunksPerSweep * chunkBytes) {
      prepare("DELETE FROM payload_chunks WHERE payload = ?").run(id);
    } else {
      prepare("INSERT INTO payload_garbage (payload) VALUES (?)").run(id);
      hasGarbage = true;
    }
  };

  const putChunk = (payload: number, position: number, bytes: Uint8Array): void => {
    prepare("INSERT OR REPLACE INTO payload_chunks (payload, position, bytes) VALUES (?, ?, ?)").run(
      payload,
      position,
      bytes,
    );
  };

  const getChunk = (payload: number, position: number): Uint8Array =>
    (prepare("SELECT bytes FROM payload_chunks WHERE payload = ? AND position = ?").pluck().get(payload, position) as
      | Uint8Array
      | undefined) ?? new Uint8Array();

  const putBytes = (payload: number, offset: number, bytes: Uint8Array): void => {
    const end = offset + bytes.length;
    for (let position = Math.floor(offset / chunkBytes); position * chunkBytes < end; position++) {
      const chunkStart = position * chunkBytes;
      const from = Math.max(offset, chunkStart);
      const until = Math.min(end, chunkStart + chunkBytes);
      const part = bytes.subarray(from - offset, until - offset);
      putChunk(
        payload,
        position,
        part.length === chunkBytes ? part : overlay(getChunk(payload, position), from - chunkStart, part),
      );
    }
  };

  const replace = (task: number, name: PayloadName, bytes: Uint8Array): void => {
    const old = find(task, name);
    if (old !== undefined) unlink(old);
    const { lastInsertRowid } = prepare("INSERT INTO payloads (task, name, total_bytes) VALUES (?, ?, ?)").run(
      task,
      name,
      bytes.length,
    );
    putBytes(Number(lastInsertRowid), 0, bytes);
  };

  const sweepOnce = (): boolean => {
    const payload = prepare("SELECT payload FROM payload_garbage LIMIT 1").pluck().get() as number | undefined;
    if (payload === undefined) return false;
    const deleteSome = `DELETE FROM payload_chunks WHERE rowid IN (SELECT rowid FROM payload_chunks WHERE payload = ? LIMIT ${chunksPerSweep})`;
    if (prepare(deleteSome).run(payload).changes < chunksPerSweep)
      prepare("DELETE FROM payload_garbage WHERE payload = ?").run(payload);
    return true;
  };

  return {
    write: replace,
    writeAt: (task, name, offset, bytes) => {
      if (offset === 0) return replace(task, name, bytes);
      const { id, totalBytes } = find(task, name) ?? { id: 0, totalBytes: 0 };
      if (!isCount(offset) || offset > totalBytes) {
        throw new BridgeError(
          "invalid_input",
          `cannot write at ${offset} of payload ${name}, which has ${totalBytes} bytes`,
          {
            operation: "putPayload",
          },
        );
      }
      putBytes(id, offset, bytes);
      if (offset + bytes.length > totalBytes) {
        prepare("UPDATE payloads SET total_bytes = ? WHERE id = ?").run(offset + bytes.length, id);
      }
    },
    read: (task, name, range) => {
      const row = find(task, name);
      if (row === undefined) return undefined;
      const end = Math.min(row.totalBytes, range.offset + range.length);
      const bytes = new Uint8Array(Math.max(0, end - range.offset));
      for (let position = Math.floor(range.offset / chunkBytes); position * chunkBytes < end; position++) {
        const chunkStart = position * chunkBytes;
        const from = Math.max(range.offset, chunkStart);
        bytes.set(getChunk(row.id, position).subarray(from - chunkStart, end - chunkStart), from - range.offset);
      }
      return { bytes, totalBytes: row.totalBytes };
    },
    drop: (task, names) => {
      const all = prepare("SELECT id, total_bytes AS totalBytes FROM payloads WHERE task = ?");
      const rows = names === "all" ? (all.all(task) as PayloadRow[]) : names.map((name) => find(task, name));
      for (const row of rows) if (row !== undefined) unlink(row);
    },
    sweep: async () => {
      if (!hasGarbage) return;
      hasGarbage = false;
      try {
        while (await write("sweep", false, sweepOnce)) await new Promise(setImmediate);
      } catch {
        hasGarbage = true;
      }
    },
  };
};

const overlay = (old: Uint8Array, offset: number, part: Uint8Array): Uint8Array => {
  if (offset === 0 && part.length >= old.length) return part;
  const merged = new Uint8Array(Math.max(old.length, offset + part.length));
  merged.set(old);
  merged.set(part, offset);
  return merged;
};

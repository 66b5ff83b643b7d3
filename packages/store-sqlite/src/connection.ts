import { statSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { BridgeError } from "@taskbridge/core/store";
import type Database from "better-sqlite3";
import { openDatabase } from "./open-database.ts";
import { isLocked, toError } from "./to-error.ts";

export interface ConnectionOptions {
  readonly path: string;
  readonly lockTimeoutMs: number;
  readonly maxBytes: number | undefined;
}

/** One open file. All work is synchronous inside; a lock that another process holds is waited for outside, between tries. */
export interface Connection {
  /** The statement for a text, compiled once. */
  prepare(sql: string): Database.Statement<unknown[]>;
  /** Runs work that only reads. */
  read<Result>(operation: string, work: () => Result): Promise<Result>;
  /**
   * Runs work in one transaction that has the write lock from its start. `durable`: the disk has it when this resolves;
   * else a crash of the machine may lose it, never half of it. Durable writes of one turn of the event loop share one sync. A
   * durable write to a file that is no longer at its path rejects with `unavailable`.
   */
  write<Result>(operation: string, durable: boolean, work: () => Result): Promise<Result>;
  close(): void;
}

/** A durable write that waits for its turn. */
interface Waiting {
  readonly operation: string;
  readonly work: () => unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** What became of one write of a group. */
type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** Longest pause between two tries to get a lock. */
const maxPauseMs = 25;

export const openConnection = async ({ path, lockTimeoutMs, maxBytes }: ConnectionOptions): Promise<Connection> => {
  let closed = false;

  const untilUnlocked = async <Result>(operation: string, work: () => Result): Promise<Result> => {
    let startedAt: number | undefined;
    for (let attempt = 0; ; attempt++) {
      if (closed) throw new BridgeError("unavailable", `the SQLite store ${path} is closed`, { operation });
      try {
        return work();
      } catch (error) {
        startedAt ??= performance.now();
        if (!isLocked(error) || performance.now() - startedAt >= lockTimeoutMs) throw toError(error, path, operation);
      }
      // Random, so that two processes do not keep meeting.
      await sleep(Math.min(2 ** attempt, maxPauseMs) * (0.5 + Math.random()));
    }
  };

  const db = await untilUnlocked("open", () => openDatabase(path, maxBytes));
  const opened = statSync(path);
  const statements = new Map<string, Database.Statement<unknown[]>>();
  let syncsFully = true;

  /** A switch on one connection (microseconds, only when it changes) rather than a second connection with its own page cache. */
  const setDurability = (durable: boolean): void => {
    if (durable === syncsFully) return;
    db.pragma(durable ? "synchronous = FULL" : "synchronous = NORMAL");
    syncsFully = durable;
  };

  const inTransaction = db.transaction((work: () => unknown) => work());

  /** SQLite goes on writing to a file that was deleted, where nobody else will ever find what it writes. */
  const assertStillThere = (operation: string): void => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.ino === opened.ino && found.dev === opened.dev) return;
    const fate = found === undefined ? "was deleted" : "was replaced";
    throw new BridgeError("unavailable", `the SQLite store ${path} ${fate} while it was open; restart to go on`, {
      operation,
    });
  };

  /** One write of a group. Its failure undoes it alone, unless SQLite has given up the whole transaction. */
  const tryOne = ({ operation, work }: Waiting): Outcome => {
    try {
      return { result: inTransaction(work) };
    } catch (error) {
      if (!db.inTransaction) throw error;
      return { error: toError(error, path, operation) };
    }
  };

  let group: Waiting[] = [];
  /** Syncing takes as long as everything else together, and as long for many writes as for one. */
  const writeGroup = async (): Promise<void> => {
    const writes = group;
    group = [];
    const { operation = "write" } = writes[0] ?? {};
    try {
      const outcomes = await untilUnlocked(operation, () => {
        assertStillThere(operation);
        setDurability(true);
        return inTransaction.immediate(() => writes.map(tryOne)) as readonly Outcome[];
      });
      for (const [index, { resolve, reject }] of writes.entries()) {
        const outcome = outcomes[index];
        if (outcome !== undefined && "result" in outcome) resolve(outcome.result);
        else reject(outcome?.error);
      }
    } catch (error) {
      for (const { reject } of writes) reject(error);
    }
  };
  const writeDurably = <Result>(operation: string, work: () => Result): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (group.length === 0) setImmediate(() => void writeGroup());
      group.push({ operation, work, resolve: resolve as (result: unknown) => void, reject });
    });

  return {
    prepare: (sql) => {
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = db.prepare<unknown[]>(sql);
        statements.set(sql, statement);
      }
      return statement;
    },
    read: untilUnlocked,
    write: <Result>(operation: string, durable: boolean, work: () => Result) =>
      durable
        ? writeDurably(operation, work)
        : untilUnlocked(operation, () => {
            setDurability(false);
            return inTransaction.immediate(work) as Result;
          }),
    close: () => {
      if (closed) return;
      closed = true;
      // Closing the last connection copies the log into the file and deletes it.
      db.close();
    },
  };
};

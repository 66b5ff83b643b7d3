import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { BridgeError } from "@taskbridge/core/store";
import type { Client, Pool, PoolClient } from "pg";
import { sendCancelRequest, sessionOf } from "./cancel-request.ts";
import { isAborted, isConnectionLost, toError } from "./to-error.ts";

/** One statement, which is one transaction. */
export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** It changes nothing, so that it may be sent again when the connection turns out to be lost. */
  readonly isRead?: boolean;
  /** Told by what number the client was to know its session; a pooler makes one up. */
  readonly onSession?: (processId: number | undefined) => void;
  /** How long all of it may take (milliseconds). Default: as long as any operation. */
  readonly timeoutMs?: number;
}

/**
 * The server behind a pool. Statements go without a name, so that any connection does, also one that a pooler gives to
 * another client afterwards.
 */
export interface Connection {
  /** For messages: host, port and database. */
  readonly place: string;
  /**
   * Runs a statement and resolves with its rows. Rejects with `unavailable` when the server cannot be reached or has not
   * answered in time; the statement may have been done nevertheless, unless it was a read.
   */
  query<Row>(operation: string, statement: Statement): Promise<readonly Row[]>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly pool: Pool;
  readonly place: string;
  readonly timeoutMs: number;
  /** Whether `close` ends the pool. */
  readonly ownsPool: boolean;
}

/** A statement that lost out against others is sent so often before we give up. */
const mostAttempts = 5;
const longestPauseMs = 50;

export const createConnection = ({ pool, place, timeoutMs, ownsPool }: ConnectionOptions): Connection => {
  let isClosed = false;
  // Of an idle connection that is lost: the pool has taken it out already.
  pool.on("error", () => undefined);
  // Of one that is lost while nothing is asked of it: the next statement finds out.
  pool.on("connect", (client) => client.on("error", () => undefined));

  const checkOut = async (operation: string, leftMs: number): Promise<PoolClient> => {
    const checking = pool.connect();
    const client = await within(checking, leftMs);
    if (client !== undefined) return client;
    // It may still come.
    checking.then(
      (late) => late.release(),
      () => undefined,
    );
    throw new BridgeError("unavailable", `${place} gave no connection in time`, { operation });
  };

  const runOnce = async (operation: string, statement: Statement, deadline: number): Promise<readonly unknown[]> => {
    const client = await checkOut(operation, deadline - performance.now());
    const { text, values = [], onSession } = statement;
    onSession?.(sessionOf(client as unknown as Client)?.processId);
    const asked = client.query({ text, values: [...values] });
    try {
      const result = await within(asked, deadline - performance.now());
      if (result !== undefined) {
        client.release();
        return result.rows;
      }
    } catch (error) {
      client.release(isConnectionLost(error));
      throw error;
    }
    asked.catch(() => undefined);
    sendCancelRequest(client as unknown as Client);
    client.release(true);
    throw new BridgeError("unavailable", `${place} did not answer in time`, { operation });
  };

  const query = async <Row>(operation: string, statement: Statement): Promise<readonly Row[]> => {
    const deadline = performance.now() + (statement.timeoutMs ?? timeoutMs);
    for (let attempt = 1; ; attempt++) {
      if (isClosed) throw new BridgeError("unavailable", `${place} is closed`, { operation });
      try {
        return (await runOnce(operation, statement, deadline)) as readonly Row[];
      } catch (error) {
        const mayRepeat = isAborted(error) || (statement.isRead === true && isConnectionLost(error));
        if (!mayRepeat || attempt >= mostAttempts || performance.now() >= deadline)
          throw toError(error, place, operation);
        // Random, so that two who were in each other's way do not keep meeting.
        await sleep(Math.random() * Math.min(2 ** attempt, longestPauseMs));
      }
    }
  };

  return {
    place,
    query,
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      if (ownsPool) await within(pool.end(), timeoutMs);
    },
  };
};

/** What a promise resolves with, or undefined when that takes longer. */
const within = async <Value>(promise: Promise<Value>, limitMs: number): Promise<Value | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, limitMs));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};

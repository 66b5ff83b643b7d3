import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { BridgeError, within } from "@taskbridge/core/store";
import type { Client, Pool, PoolClient } from "pg";
import { destroyClient, sendCancelRequest, sessionOf } from "./client-session.ts";
import { createGate } from "./gate.ts";
import { isAborted, isConnectionLost, toError } from "./to-error.ts";

/** One statement, which is one transaction. */
export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** It changes nothing, so that it may be sent again when the connection turns out to be lost. */
  readonly isRead?: boolean;
  /** It may wait at the server for others of its kind, which together leave half of the connections to the rest. */
  readonly mayWait?: boolean;
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
  readonly location: string;
  /**
   * Runs a statement and resolves with its rows. Rejects with `unavailable` when the server cannot be reached or has not
   * answered in time; the statement may have been done nevertheless, unless it was a read.
   */
  query<Row>(operation: string, statement: Statement): Promise<readonly Row[]>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly pool: Pool;
  readonly location: string;
  readonly timeoutMs: number;
  /** Whether `close` ends the pool. */
  readonly ownsPool: boolean;
}

/** A statement that lost out against others is sent so often before we give up. */
const maxAttempts = 5;
const maxPauseMs = 50;

export const createConnection = ({ pool, location, timeoutMs, ownsPool }: ConnectionOptions): Connection => {
  let isClosed = false;
  const gate = createGate(Math.max(1, Math.floor(pool.options.max / 2)));
  const open = new Set<Client>();
  const onConnect = (client: PoolClient): void => void open.add(client as unknown as Client);
  const onRemove = (client: PoolClient): void => void open.delete(client as unknown as Client);
  // Of an idle connection that is lost, which the pool has taken out already, or of one that is just in use, where the
  // statement under way rejects too.
  const ignore = (): void => undefined;
  pool.on("error", ignore).on("connect", onConnect).on("remove", onRemove);

  const checkOut = async (operation: string, leftMs: number): Promise<PoolClient> => {
    const checking = pool.connect();
    const client = await within(checking, leftMs);
    if (client !== undefined) return client;
    // It may still come.
    checking.then(
      (late) => late.release(),
      () => undefined,
    );
    throw new BridgeError("unavailable", `${location} gave no connection in time`, { operation });
  };

  const runOnce = async (operation: string, statement: Statement, deadline: number): Promise<readonly unknown[]> => {
    const client = await checkOut(operation, deadline - performance.now());
    const { text, values = [], onSession } = statement;
    onSession?.(sessionOf(client as unknown as Client)?.processId);
    client.on("error", ignore);
    const release = (isOfNoMoreUse: boolean): void => {
      client.off("error", ignore);
      client.release(isOfNoMoreUse);
    };
    const asked = client.query({ text, values: [...values] });
    try {
      const result = await within(asked, deadline - performance.now());
      if (result !== undefined) {
        release(false);
        return result.rows;
      }
    } catch (error) {
      release(isConnectionLost(error));
      throw error;
    }
    asked.catch(() => undefined);
    sendCancelRequest(client as unknown as Client);
    release(true);
    throw new BridgeError("unavailable", `${location} did not answer in time`, { operation });
  };

  const repeat = async (operation: string, statement: Statement, deadline: number): Promise<readonly unknown[]> => {
    for (let attempt = 1; ; attempt++) {
      if (isClosed) throw new BridgeError("unavailable", `${location} is closed`, { operation });
      try {
        return await runOnce(operation, statement, deadline);
      } catch (error) {
        const mayRepeat = isAborted(error) || (statement.isRead === true && isConnectionLost(error));
        if (!mayRepeat || attempt >= maxAttempts || performance.now() >= deadline)
          throw toError(error, location, operation);
        // Random, so that two who were in each other's way do not keep meeting.
        await sleep(Math.random() * Math.min(2 ** attempt, maxPauseMs));
      }
    }
  };

  const query = async <Row>(operation: string, statement: Statement): Promise<readonly Row[]> => {
    const limitMs = statement.timeoutMs ?? timeoutMs;
    const deadline = performance.now() + limitMs;
    const leave = statement.mayWait === true ? await gate.enter(limitMs) : ignore;
    if (leave === undefined)
      throw new BridgeError("unavailable", `${location} is too busy with calls before this one`, { operation });
    try {
      return (await repeat(operation, statement, deadline)) as readonly Row[];
    } finally {
      leave();
    }
  };

  return {
    location,
    query,
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      if (ownsPool) {
        await within(pool.end(), timeoutMs);
        // A server that stands still takes no leave, and an open connection keeps the process alive.
        for (const client of open) destroyClient(client);
      }
      pool.off("error", ignore).off("connect", onConnect).off("remove", onRemove);
    },
  };
};

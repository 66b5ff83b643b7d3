import { randomUUID } from "node:crypto";
import { probeValues, type TaskStore } from "@taskbridge/core/store";
import { createChangeListener } from "./change-listener.ts";
import { createChangeSender } from "./change-sender.ts";
import { checkDirectUrl } from "./check-direct-url.ts";
import { checkRights } from "./check-rights.ts";
import { checkServer } from "./check-server.ts";
import { createConnection } from "./connection.ts";
import { describeServer } from "./describe-server.ts";
import { createLeases } from "./leases.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { openPool } from "./open-pool.ts";
import { createPayloads } from "./payloads.ts";
import { startServerClock } from "./server-clock.ts";
import { assertOptions, type PostgresStoreOptions } from "./store-options.ts";
import type { StoreParts } from "./store-parts.ts";
import { createSweeper } from "./sweeper.ts";
import { createTaskTable } from "./task-table.ts";
import { createValues } from "./values.ts";

/**
 * Opens a store in one schema of a PostgreSQL database, which any number of processes may share, and brings its tables up
 * to date. Rejects with `misconfigured` for options, a server, rights or a schema that it cannot work with, and with
 * `unavailable` when the server cannot be reached.
 */
export const postgresStore = async (options: PostgresStoreOptions): Promise<TaskStore> => {
  assertOptions(options);
  const { schema = "taskbridge", operationTimeoutMs: timeoutMs = 5000, clock } = options;
  const reached = openPool(options, timeoutMs);
  const connection = createConnection({ ...reached, timeoutMs });
  try {
    await checkServer(connection, options.directUrl !== undefined);
    const [channel, origin] = [`taskbridge_${schema}`, randomUUID()];
    if (options.directUrl !== undefined) await checkDirectUrl(connection, reached.direct, channel, timeoutMs);
    await migrate(connection, schema, migrations);
    await checkRights(connection, schema);
    const sweeper = createSweeper(connection, schema);
    const time = await startServerClock(connection, clock && (() => clock.now()), sweeper.sweep);
    const sender = createChangeSender(connection, channel, origin);
    const listener = createChangeListener({ client: reached.direct, channel, origin, timeoutMs });
    const parts: StoreParts = {
      ...{ connection, clock: time, timeoutMs, schema: `"${schema}"` },
      ...{ changed: sender.add, sweep: sweeper.sweep },
    };
    const values = createValues(parts);
    return {
      contract: 1,
      shared: true,
      now: time.now,
      ...createTaskTable(parts),
      ...createPayloads(parts),
      values,
      probe: () => probeValues(values),
      ...createLeases(parts),
      watch: listener.watch,
      describe: () => describeServer(connection, reached.address, schema),
      close: async () => {
        time.stop();
        listener.close();
        await sender.close();
        await connection.close();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
};

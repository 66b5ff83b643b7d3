import { afterAll, afterEach, beforeAll } from "@jest/globals";
import type { TaskStore } from "@taskbridge/core/store";
import type { PostgresServer, PostgresServerOptions } from "@taskbridge/services/postgres";
import { Client } from "pg";
import { postgresStore } from "../src/postgres-store.ts";
import type { PostgresStoreOptions } from "../src/store-options.ts";
import { describeWithPostgres, startServer } from "./database.ts";
import { until } from "./until.ts";

/** Of a store's call: short enough to wait for, long enough that a busy machine does not use it up. */
export const timeoutMs = 1_000;

interface Closable {
  close(): Promise<unknown>;
}

/** What the tests on a server of their own work with. What they open is closed after each. */
export interface OwnServer {
  readonly server: () => PostgresServer;
  readonly keep: <Thing extends Closable>(thing: Thing) => Thing;
  /** A store with that time limit, unless told otherwise. */
  readonly open: (options?: Partial<PostgresStoreOptions>) => Promise<TaskStore>;
  /** A session of somebody else, as the superuser. */
  readonly openSession: () => Promise<Client>;
}

/** A suite on a server that it may stop, kill and set up. Skipped by name where none can be started. */
export const describeOnOwnServer = (
  name: string,
  body: (own: OwnServer) => void,
  options: Partial<PostgresServerOptions> = {},
): void =>
  describeWithPostgres(
    name,
    () => {
      let running: PostgresServer | undefined;
      const opened: Closable[] = [];
      const server = (): PostgresServer => {
        if (running === undefined) throw new Error("there is a server only while tests run");
        return running;
      };
      const keep = <Thing extends Closable>(thing: Thing): Thing => {
        opened.push(thing);
        return thing;
      };
      beforeAll(async () => {
        running = await startServer(options);
      });
      afterEach(async () => {
        for (const thing of opened.splice(0).reverse()) await thing.close();
      });
      afterAll(() => running?.stop());
      body({
        server,
        keep,
        open: async (storeOptions) =>
          keep(await postgresStore({ url: server().url, operationTimeoutMs: timeoutMs, ...storeOptions })),
        openSession: async () => {
          const client = new Client({ connectionString: server().url });
          client.on("error", () => undefined);
          await client.connect();
          keep({ close: () => client.end() });
          return client;
        },
      });
    },
    true,
  );

/** Waits until a store that had lost its server answers again. */
export const recover = (store: TaskStore): Promise<void> =>
  until("the store answers again", () =>
    store.nextWakeAt().then(
      () => true,
      () => false,
    ),
  );

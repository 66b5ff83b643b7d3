import { afterAll, beforeAll, expect, it } from "@jest/globals";
import type { TaskId } from "@taskbridge/core/store";
import { findPgbouncer, type PostgresServer, startPgbouncer } from "@taskbridge/services/postgres";
import { createSample } from "@taskbridge/testkit/store";
import { Client } from "pg";
import { postgresStore } from "../src/postgres-store.ts";
import { describeWithPostgres, rejectionOf, startServer } from "./database.ts";
import { until } from "./until.ts";

const program = await findPgbouncer();
const missing = program === undefined ? " (SKIPPED: no pgbouncer on the PATH)" : "";
const test = program === undefined ? it.skip : it;
const ownServer = true;

describeWithPostgres(
  `through PgBouncer${missing}`,
  () => {
    let server: PostgresServer;
    const stops: (() => Promise<unknown>)[] = [];
    const startPooler = async (settings: Readonly<Record<string, string>> = {}): Promise<string> => {
      const pooler = await startPgbouncer({ program: program ?? "", server, settings });
      stops.push(pooler.stop);
      return pooler.url;
    };
    beforeAll(async () => {
      server = await startServer();
    });
    afterAll(async () => {
      for (const stop of stops.reverse()) await stop();
      await server.stop();
    });

    test("everything works, and changes are heard on the direct way", async () => {
      const url = await startPooler();
      const stores = await Promise.all([1, 2].map(() => postgresStore({ url, directUrl: server.url })));
      const [store, other] = stores;
      if (store === undefined || other === undefined) throw new Error("no stores");
      stops.push(store.close, other.close);
      const notified: (TaskId | undefined)[] = [];
      other.watch?.((taskId) => notified.push(taskId));
      await until("it listens", () => notified.length > 0);
      const payloads = [{ name: "input" as const, bytes: new Uint8Array(200_000) }];
      const many = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          createSample(index % 2 ? store : other, { wakeAt: index + 1 }, { payloads, maxOpenForOwner: 100 }),
        ),
      );
      await Promise.all(many.map((record, index) => store.revise(record, 1, { durable: index % 2 === 0 })));
      await until("it hears", () => many.every(({ taskId }) => notified.includes(taskId)));
      const claimed = await Promise.all([store.due(20, 60_000), other.due(20, 60_000)]);
      const ids = claimed.flat().map(({ taskId }) => taskId);
      expect([ids.length, new Set(ids).size]).toEqual([30, 30]);
    });

    test("notices would not be heard, so that it is refused without the direct way, whichever way it shows", async () => {
      for (const settings of [{}, { ignore_startup_parameters: "statement_timeout" }]) {
        const error = await rejectionOf(postgresStore({ url: await startPooler(settings) }));
        expect([error.code, error.message]).toEqual(["misconfigured", expect.stringMatching(/pooler.*directUrl/)]);
      }
    });

    test("notices would not be heard on a direct way that leads elsewhere, or through a pooler itself", async () => {
      const url = await startPooler();
      const admin = new Client({ connectionString: server.url });
      await admin.connect();
      await admin.query("CREATE DATABASE elsewhere");
      await admin.end();
      for (const directUrl of [server.url.replace(/postgres$/, "elsewhere"), await startPooler()]) {
        const error = await rejectionOf(postgresStore({ url, directUrl, operationTimeoutMs: 1_000 }));
        expect([error.code, error.message]).toEqual([
          "misconfigured",
          expect.stringMatching(/^directUrl: .*not heard/),
        ]);
      }
      const error = await rejectionOf(postgresStore({ url, directUrl: "postgres://user:s3cret@127.0.0.1:1/postgres" }));
      expect([error.code, error.message]).toEqual([
        "unavailable",
        expect.stringContaining("127.0.0.1:1/postgres (directUrl)"),
      ]);
      expect(error.message).not.toContain("s3cret");
    });
  },
  ownServer,
);

if (program === undefined && process.env.TASKBRIDGE_REQUIRE_ENGINES === "1") {
  it("has a PgBouncer to test", () => {
    throw new Error("no pgbouncer on the PATH");
  });
}

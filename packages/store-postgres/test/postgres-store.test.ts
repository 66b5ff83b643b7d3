import { afterEach, beforeEach, describe, it } from "@jest/globals";
import { testStore } from "@taskbridge/testkit/store";
import { postgresStore } from "../src/postgres-store.ts";
import { describeWithPostgres, useDatabase } from "./database.ts";

describeWithPostgres("postgresStore", () => {
  const { url, run, empty, newSchema } = useDatabase();
  const schema = newSchema();
  testStore({
    name: "postgresStore",
    open: async () => {
      await empty(schema);
      return postgresStore({ url: url(), schema });
    },
    reopen: () => postgresStore({ url: url(), schema }),
    elapseRemovals: async () => {
      await run(`UPDATE "${schema}".unique_keys SET until = 1 WHERE key LIKE 'removed:%'`);
    },
    runner: { describe, it, beforeEach, afterEach },
  });
});

import { expect, it } from "@jest/globals";
import { postgresStore } from "../src/postgres-store.ts";
import { describeWithPostgres, rejectionOf, useDatabase } from "./database.ts";

describeWithPostgres("the settings of a role", () => {
  const { url, newSchema } = useDatabase();

  it.each([
    ["default_transaction_isolation", "serializable"],
    ["array_nulls", "off"],
    ["extra_float_digits", "-1"],
  ])("with which the store would go wrong are refused: %s = %s", async (setting, value) => {
    const set = new URL(url());
    set.searchParams.set("options", `-c ${setting}=${value}`);
    const error = await rejectionOf(postgresStore({ url: set.href.replaceAll("+", "%20"), schema: newSchema() }));
    expect([error.code, error.message]).toEqual(["misconfigured", expect.stringContaining(`${setting} = ${value}`)]);
  });
});

describeWithPostgres("what a store tells of its server", () => {
  const { url, newSchema } = useDatabase();

  it("is product and version, place, database, schema and durability, and no password", async () => {
    const [schema, server] = [newSchema(), new URL(url())];
    const store = await postgresStore({ url: url(), schema });
    const reported = await store.describe?.();
    expect(reported).toMatchObject({
      kind: expect.stringMatching(/^PostgreSQL \d+\.\d+$/),
      location: `${server.hostname}:${server.port || 5432}`,
      database: server.pathname.slice(1),
      namespace: `schema ${schema}`,
      durability: expect.stringMatching(/^synchronous_commit = \w+.*, fsync = (on|off)$/),
    });
    expect(reported?.warning === undefined).toBe(reported?.durability?.endsWith("fsync = on"));
    await store.close();
  });

  it("says when the role has switched durability off, which the store does not heed", async () => {
    const set = new URL(url());
    set.searchParams.set("options", "-c synchronous_commit=off");
    const store = await postgresStore({ url: set.href.replaceAll("+", "%20"), schema: newSchema() });
    expect((await store.describe?.())?.durability).toContain("synchronous_commit = off (on for each write that must");
    await store.close();
  });
});

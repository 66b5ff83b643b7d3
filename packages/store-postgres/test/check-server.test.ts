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

import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { configOptions, createStore } from "../src/create-store.ts";
import { postgresStore } from "../src/postgres-store.ts";
import type { PostgresStoreOptions } from "../src/store-options.ts";
import { describeWithPostgres, rejectionOf, useDatabase } from "./database.ts";

/** The schema of configuration files, which is published with the command line. */
const schema = JSON.parse(readFileSync(new URL("../../cli/taskbridge.schema.json", import.meta.url), "utf8"));

it("takes the options that the schema describes", () => {
  const { url: _url, ...described } = schema.$defs.postgresStore.properties;
  expect(Object.keys(described).sort()).toEqual([...configOptions].sort());
});

describeWithPostgres("createStore", () => {
  const { url, newSchema } = useDatabase();

  it("opens both ways of writing the URL, with options", async () => {
    const schema = newSchema();
    for (const text of [url(), url().replace(/^postgres(ql)?:/, "postgresql:")]) {
      const options = { schema, maxConnections: 2, operationTimeoutMs: 3000, directUrl: url() };
      const store = await createStore(text, { baseDirectory: "/nowhere", options });
      expect([store.shared, await store.nextWakeAt()]).toEqual([true, null]);
      await store.close();
    }
  });
});

describe("what cannot be opened", () => {
  it.each(["postgres", "postgres:db", "sqlite:x.db", "redis://localhost", "", "http://localhost"])(
    "is refused as a URL: %j",
    async (text) => {
      const error = await rejectionOf(createStore(text, { baseDirectory: "/nowhere" }));
      expect([error.code, error.message]).toEqual(["misconfigured", expect.stringContaining("postgres://")]);
    },
  );

  it("is refused without showing a password", async () => {
    const texts = [
      "postgres://user:s3cret@[bad/db",
      "http://user:s3cret@host/db",
      ...["#", "/", "?"].map((sign) => `postgres://user:12${sign}s3cret@127.0.0.1:1/db`),
    ];
    for (const text of texts) {
      const error = await rejectionOf(createStore(text, { baseDirectory: "/nowhere" }));
      expect([text, error.code]).toEqual([text, "misconfigured"]);
      expect(`${error.message} ${String(error.cause)}`).not.toMatch(/s3cret|12/);
    }
  });

  it.each([
    [{ url: "postgres://host" }, "url"],
    [{ schemas: "x" }, "schemas: unknown option"],
    [{ schema: "Big" }, "schema: must be"],
    [{ schema: 'x"; DROP TABLE y; --' }, "schema: must be"],
    [{ schema: "pg_tasks" }, "and not begin with a digit or pg_"],
    [{ schema: 7 }, "got 7"],
    [{ maxConnections: 0 }, "maxConnections: must be a whole number from 1, got 0"],
    [{ operationTimeoutMs: "5s" }, 'operationTimeoutMs: must be a whole number from 1, got "5s"'],
    [{ directUrl: "localhost" }, "directUrl: must be a URL"],
  ])("is refused with the options %j", async (options, part) => {
    const error = await rejectionOf(createStore("postgres://127.0.0.1:1/db", { baseDirectory: "/nowhere", options }));
    expect([error.code, error.message]).toEqual(["misconfigured", expect.stringContaining(part)]);
  });

  it("is refused with neither a URL nor a pool", async () => {
    const error = await rejectionOf(postgresStore({} as PostgresStoreOptions));
    expect(error).toMatchObject({ code: "misconfigured", message: expect.stringContaining("one of url and pool") });
  });
});

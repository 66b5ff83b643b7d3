import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { createSample } from "@taskbridge/testkit/store";
import { configOptions, createStore } from "../src/create-store.ts";
import { rejectionOf, useTemporaryFolder } from "./temporary-folder.ts";

/** The schema of configuration files, which is published with the command line. */
const schema = JSON.parse(readFileSync(new URL("../../cli/taskbridge.schema.json", import.meta.url), "utf8"));

const pathTo = useTemporaryFolder();

it("takes the options that the schema describes, and obeys them", async () => {
  const { url: _url, ...described } = schema.$defs.sqliteStore.properties;
  expect(Object.keys(described).sort()).toEqual([...configOptions].sort());
  const options = { maxBytes: 500_000, lockTimeoutMs: 100 };
  const store = await createStore("sqlite:tasks.db", { baseDirectory: pathTo(""), options });
  const payloads = [{ name: "input" as const, bytes: new Uint8Array(1_000_000) }];
  expect((await rejectionOf(createSample(store, {}, { payloads }))).message).toContain("SQLITE_FULL");
  await store.close();
});

it.each([
  [{ maxBytes: "1 GB" }, 'maxBytes: must be a number from 0, got "1 GB"'],
  [{ lockTimeoutMs: "5" }, 'lockTimeoutMs: must be a number from 0, got "5"'],
  [{ maxByte: 1 }, "maxByte: a SQLite store has no such option"],
])("refuses %j", async (options, message) => {
  const error = await rejectionOf(createStore("sqlite:tasks.db", { baseDirectory: pathTo(""), options }));
  expect(error).toMatchObject({ code: "misconfigured", message, data: { path: Object.keys(options)[0] } });
});

it("tells what it is, where, and how durable", async () => {
  const store = await createStore("sqlite:tasks.db", { baseDirectory: pathTo("") });
  expect(await store.describe?.()).toEqual({
    kind: expect.stringMatching(/^SQLite 3\.\d+/),
    location: pathTo("tasks.db"),
    durability: "synchronous = FULL for each write that must last",
  });
  await store.close();
});

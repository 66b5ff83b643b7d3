import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { createStore, sqliteStore } from "@taskbridge/store-sqlite";
import { createSample } from "@taskbridge/testkit/store";
import Database from "better-sqlite3";
import { rejectionOf, runFixture, useTemporaryFolder } from "./temporary-folder.ts";

const pathTo = useTemporaryFolder();

const assertRefused = async (path: string, ...parts: readonly string[]): Promise<void> => {
  const error = await rejectionOf(sqliteStore({ path }));
  expect(error.code).toBe("misconfigured");
  for (const part of [path, ...parts]) expect(error.message).toContain(part);
};

describe("opening", () => {
  it("creates a file that only its owner can read, and its log likewise", async () => {
    const store = await sqliteStore({ path: pathTo("tasks.db") });
    await createSample(store);
    const modes = readdirSync(pathTo("")).map((name) => statSync(pathTo(name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
    await store.close();
    expect(readdirSync(pathTo(""))).toEqual(["tasks.db"]);
  });

  it("refuses a folder", () => assertRefused(pathTo(""), "a folder"));

  it("refuses a missing folder and one that is a file", async () => {
    await assertRefused(pathTo("missing/tasks.db"), `folder ${pathTo("missing")} does not exist`);
    writeFileSync(pathTo("file"), "");
    await assertRefused(pathTo("file/tasks.db"), pathTo("file"));
  });

  it("refuses a file that is no database, and leaves it alone", async () => {
    const text = "accounts:\n".repeat(1000);
    writeFileSync(pathTo("notes.txt"), text);
    await assertRefused(pathTo("notes.txt"), "not a SQLite database", "SQLITE_NOTADB");
    expect(readFileSync(pathTo("notes.txt"), "utf8")).toBe(text);
  });

  it.each([
    ["without an application ID", "CREATE TABLE bookmarks (url TEXT)", "application_id 0, 1 tables"],
    ["with one", "CREATE TABLE fossil (x); PRAGMA application_id = 252006673", "application_id 252006673"],
    ["with only a version", "PRAGMA user_version = 3", "application_id 0, 0 tables"],
  ])("refuses another program's database %s, and leaves it alone", async (_, sql, part) => {
    const db = new Database(pathTo("other.db"));
    db.exec(sql);
    db.close();
    const before = readFileSync(pathTo("other.db"));
    await assertRefused(pathTo("other.db"), "another program", part);
    expect(readFileSync(pathTo("other.db")).equals(before)).toBe(true);
  });

  it("refuses a file of a newer version, and leaves it alone", async () => {
    await (await sqliteStore({ path: pathTo("tasks.db") })).close();
    const db = new Database(pathTo("tasks.db"));
    db.pragma("user_version = 99");
    db.close();
    await assertRefused(pathTo("tasks.db"), "newer version", "schema 99", "up to 4");
  });

  it.each([1, 3])("refuses a file of the earlier schema %d in one sentence, and leaves it alone", async (version) => {
    const path = pathTo("tasks.db");
    await (await sqliteStore({ path })).close();
    const db = new Database(path);
    db.pragma(`user_version = ${version}`);
    db.close();
    const before = readFileSync(path);
    await assertRefused(path, `has the earlier schema ${version}`, "start anew with another path");
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("refuses a file that this process may not write", async () => {
    await (await sqliteStore({ path: pathTo("tasks.db") })).close();
    chmodSync(pathTo(""), 0o755);
    chmodSync(pathTo("tasks.db"), 0o444);
    const { lines, exit } = runFixture("open-without-rights.mjs", pathTo("tasks.db"), pathTo("scratch.db"));
    const error = JSON.parse((await lines.next()).value);
    expect(error).toMatchObject({
      code: "misconfigured",
      message: expect.stringContaining("read-only for this process (EACCES)"),
    });
    expect(error.message).toContain(pathTo("tasks.db"));
    await exit;
  });

  it("names a damaged file", async () => {
    const path = pathTo("tasks.db");
    const store = await sqliteStore({ path });
    for (let index = 0; index < 20; index++) await createSample(store);
    await store.close();
    const file = openSync(path, "r+");
    writeSync(file, Buffer.alloc(statSync(path).size - 4096, 0xff), 0, undefined, 4096);
    closeSync(file);
    const damaged = sqliteStore({ path }).then((opened) => opened.list({ operator: true }, {}, undefined, 10));
    const error = await rejectionOf(damaged);
    expect(error.code).toBe("misconfigured");
    expect(error.message).toContain(`${path} is damaged`);
  });

  it("lets several processes create the same file at once", async () => {
    const path = pathTo("tasks.db");
    const fixtures = Array.from({ length: 4 }, () => runFixture("create-tasks.mjs", path, "10"));
    for (const { child } of fixtures) child.stdout?.resume();
    expect(await Promise.all(fixtures.map(({ exit }) => exit))).toEqual(Array(4).fill([0, null]));
    const store = await sqliteStore({ path });
    expect((await store.list({ operator: true }, {}, undefined, 100)).records).toHaveLength(40);
    await store.close();
  });

  it.each([
    [{ path: "" }, 'path must name a file, got ""'],
    [{ path: ":memory:" }, "memory:"],
    [{ path: "x.db", lockTimeoutMs: -1 }, "lockTimeoutMs: must be a number from 0, got -1"],
    [{ path: "x.db", maxBytes: Number.NaN }, "maxBytes: must be a number from 0"],
  ])("refuses the options %j", async (options, message) => {
    const error = await rejectionOf(sqliteStore(options));
    expect([error.code, error.message]).toEqual(["misconfigured", expect.stringContaining(message)]);
  });
});

describe("createStore", () => {
  it("opens a path relative to the base directory", async () => {
    mkdirSync(pathTo("data"));
    const store = await createStore("sqlite:./data/tasks.db", { baseDirectory: pathTo("") });
    await store.close();
    expect(readdirSync(pathTo("data"))).toEqual(["tasks.db"]);
  });

  it("opens an absolute path, also with slashes before it", async () => {
    for (const prefix of ["sqlite:", "sqlite://"]) {
      const store = await createStore(prefix + pathTo("tasks.db"), { baseDirectory: "/nowhere" });
      await store.close();
    }
    expect(readdirSync(pathTo(""))).toEqual(["tasks.db"]);
  });

  it.each(["sqlite:", "sqlite://tasks.db", "tasks.db", "redis://localhost", "sqlite::memory:"])(
    "refuses %s",
    async (url) => {
      expect((await rejectionOf(createStore(url, { baseDirectory: pathTo("") }))).code).toBe("misconfigured");
      expect(readdirSync(pathTo(""))).toEqual([]);
    },
  );
});

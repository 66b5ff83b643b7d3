import { accessSync, closeSync, constants, openSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { BridgeError } from "@taskbridge/core/store";
import Database from "better-sqlite3";
import { applicationId, schema, schemaVersion } from "./schema.ts";

/**
 * Pages after which a commit copies the log into the file. A quarter of SQLite's default: the copying happens inside a
 * call and holds the event loop, and 1 MB at a time costs no more in total than 4.
 */
const checkpointPages = 250;
/** What the log is cut back to after a burst. */
const logBytesKept = 16 * 1024 * 1024;

/**
 * Opens the file, creating it and its schema if need be. Throws `misconfigured` for a file that is not ours to use or of
 * another schema version, and a locked file's SqliteError, so that the caller can try again.
 */
export const openDatabase = (path: string, maxBytes: number | undefined): Database.Database => {
  assertUsable(path);
  const db = new Database(path, { fileMustExist: true, timeout: 0 });
  try {
    // Before the first write: someone else's database must stay as it is.
    assertOurs(db, path);
    setPragmas(db, path, maxBytes);
    db.transaction(() => createSchema(db, path)).immediate();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

const refuse = (path: string, reason: string): BridgeError =>
  new BridgeError("misconfigured", `the SQLite store ${path} ${reason}`);

const errorCode = (error: unknown): string => String((error as NodeJS.ErrnoException).code ?? error);

/** SQLite says little more than "unable to open database file"; this says what is the matter. */
const assertUsable = (path: string): void => {
  try {
    // Created by us, so that nobody else can read it; SQLite gives its log the same mode.
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR")
      throw refuse(path, `cannot be created: the folder ${dirname(path)} does not exist`);
    if (code !== "EEXIST") throw refuse(path, `cannot be created (${code})`);
  }
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (error) {
    throw refuse(path, `cannot be reached (${errorCode(error)})`);
  }
  if (!stats.isFile())
    throw refuse(path, `is ${stats.isDirectory() ? "a folder" : "not a regular file"}; it must be a file`);
  assertAccess(path, path, "is read-only for this process");
  assertAccess(path, dirname(path), `lies in a folder that this process cannot write, where SQLite keeps its log`);
};

const assertAccess = (path: string, checked: string, reason: string): void => {
  try {
    accessSync(checked, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw refuse(path, `${reason} (${errorCode(error)})`);
  }
};

const numberOf = (db: Database.Database, pragma: string): number => Number(db.pragma(pragma, { simple: true }));

const assertOurs = (db: Database.Database, path: string): void => {
  const [id, version] = [numberOf(db, "application_id"), numberOf(db, "user_version")];
  const tables = db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get();
  if (id === 0 && version === 0 && tables === 0) return;
  if (id !== applicationId) {
    throw refuse(
      path,
      `belongs to another program (application_id ${id}, ${tables} tables and indexes); choose another path`,
    );
  }
  assertVersion(version, path);
};

const assertVersion = (version: number, path: string): void => {
  if (version > schemaVersion)
    throw refuse(path, `was written by a newer version (schema ${version}; this one knows up to ${schemaVersion})`);
  if (version < schemaVersion)
    throw refuse(
      path,
      `has the earlier schema ${version}, which this version cannot read: start anew with another path`,
    );
};

const setPragmas = (db: Database.Database, path: string, maxBytes: number | undefined): void => {
  const mode = db.pragma("journal_mode = WAL", { simple: true });
  if (mode !== "wal")
    throw refuse(path, `cannot use a write-ahead log (journal mode stays ${mode}); is this a network file system?`);
  db.pragma("synchronous = FULL");
  db.pragma(`wal_autocheckpoint = ${checkpointPages}`);
  db.pragma(`journal_size_limit = ${logBytesKept}`);
  db.pragma("trusted_schema = OFF");
  if (maxBytes !== undefined)
    db.pragma(`max_page_count = ${Math.max(1, Math.floor(maxBytes / numberOf(db, "page_size")))}`);
};

const createSchema = (db: Database.Database, path: string): void => {
  // Read again under the lock: another process may have created the schema meanwhile.
  const version = numberOf(db, "user_version");
  if (version !== 0) {
    assertVersion(version, path);
    return;
  }
  db.exec(schema);
  db.pragma(`application_id = ${applicationId}`);
  db.pragma(`user_version = ${schemaVersion}`);
};

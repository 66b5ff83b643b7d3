import { readdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findPrograms, isProgram } from "./find-program.ts";
import { installWithApt } from "./install-with-apt.ts";

/** What of PostgreSQL there is to test against. */
export type PostgresEngine =
  /** A database of the user's own, shared with whatever else is in it. */
  | { readonly kind: "url"; readonly url: string }
  /** A folder with `postgres` and `initdb`, to start servers with. */
  | { readonly kind: "programs"; readonly folder: string }
  | { readonly kind: "missing"; readonly reason: string };

/** Where Debian keeps them, a folder for each version, off the PATH. */
const debianFolder = "/usr/lib/postgresql";

/**
 * `DATABASE_URL` where it is set, else programs: the `postgres` that `TASKBRIDGE_POSTGRES` names, one on the PATH, or
 * Debian's newest, each with its `initdb` beside it.
 */
export const findPostgres = async (): Promise<PostgresEngine> => {
  const { DATABASE_URL: url, TASKBRIDGE_POSTGRES: given } = process.env;
  if (url !== undefined && url !== "") return { kind: "url", url };
  if (given !== undefined && given !== "") {
    const folder = await folderOf(given);
    if (folder !== undefined) return { kind: "programs", folder };
    return { kind: "missing", reason: `TASKBRIDGE_POSTGRES is ${given}, which is no postgres with initdb beside it` };
  }
  for (const path of [...(await findPrograms(["postgres"])), ...(await findDebians())]) {
    const folder = await folderOf(path);
    if (folder !== undefined) return { kind: "programs", folder };
  }
  return { kind: "missing", reason: `no postgres on the PATH or in ${debianFolder}` };
};

/**
 * Like `findPostgres`, but installs it first where it is missing (as root, on Debian and its kin). For one process before
 * the tests: two at once would wait for each other's package lock.
 */
export const ensurePostgres = async (): Promise<PostgresEngine> => {
  const engine = await findPostgres();
  if (engine.kind !== "missing" || process.env.TASKBRIDGE_POSTGRES !== undefined) return engine;
  const problem = await installWithApt(["postgresql"]);
  return problem === undefined ? findPostgres() : { kind: "missing", reason: `${engine.reason}, ${problem}` };
};

/** The path of PgBouncer: the program that `TASKBRIDGE_PGBOUNCER` names, or one on the PATH. */
export const findPgbouncer = async (): Promise<string | undefined> => {
  const { TASKBRIDGE_PGBOUNCER: given } = process.env;
  if (given !== undefined && given !== "") return (await isProgram(given)) ? given : undefined;
  return (await findPrograms(["pgbouncer"]))[0];
};

/** Like `findPgbouncer`, but installs it first, as `ensurePostgres` does. */
export const ensurePgbouncer = async (): Promise<string | undefined> => {
  const found = await findPgbouncer();
  if (found !== undefined || process.env.TASKBRIDGE_PGBOUNCER !== undefined) return found;
  await installWithApt(["pgbouncer"]);
  return findPgbouncer();
};

/** The program may be a link; what belongs to it lies beside what the link leads to. */
const folderOf = async (program: string): Promise<string | undefined> => {
  if (!(await isProgram(program))) return undefined;
  const folder = dirname(await realpath(program));
  return (await isProgram(join(folder, "initdb"))) ? folder : undefined;
};

const findDebians = async (): Promise<readonly string[]> => {
  const versions = await readdir(debianFolder).catch(() => []);
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(debianFolder, version, "bin", "postgres"));
};

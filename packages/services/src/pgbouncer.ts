import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answersPostgres } from "./answers-postgres.ts";
import { freePort } from "./free-port.ts";
import { startGuarded } from "./guarded-process.ts";
import type { PostgresServer } from "./postgres-server.ts";
import { findUnprivilegedUser } from "./unprivileged-user.ts";
import { untilItAnswers } from "./until-it-answers.ts";

const host = "127.0.0.1";
const startMs = 10_000;

export interface PgbouncerOptions {
  /** Path of `pgbouncer`. */
  readonly program: string;
  readonly server: Pick<PostgresServer, "host" | "port">;
  /** More of its settings: `{ ignore_startup_parameters: "statement_timeout" }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A pooler on a free port that gives each transaction any of a few sessions. */
export interface Pgbouncer {
  /** As `PostgresServer.url`, by way of it. */
  readonly url: string;
  stop(): Promise<void>;
}

export const startPgbouncer = async ({ program, server, settings = {} }: PgbouncerOptions): Promise<Pgbouncer> => {
  const user = await findUnprivilegedUser();
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-pgbouncer-"));
  const port = await freePort(host);
  const all = {
    listen_addr: host,
    listen_port: String(port),
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: "transaction",
    default_pool_size: "3",
    ...settings,
  };
  const file = join(folder, "pgbouncer.ini");
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const database = `* = host=${server.host} port=${server.port} user=postgres`;
  await writeFile(file, ["[databases]", database, "[pgbouncer]", ...lines, ""].join("\n"));
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const running = await startGuarded(program, ["-q", file], { user, cwd: folder, folder });
  const stop = async (): Promise<void> => {
    await running.kill();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilItAnswers("PgBouncer", running.ended, startMs, () => answersPostgres(host, port));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `postgres://postgres@${host}:${port}/postgres`, stop };
};

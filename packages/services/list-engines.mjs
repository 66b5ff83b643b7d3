// Prints, as one line of JSON, which engine each test will find here: its program with its version, its URL, or why it is missing.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { findWorkflowsEmulator } from "./dist/find-workflows-emulator.js";
import { findMoto } from "./dist/moto.js";
import { findPgbouncer, findPostgres } from "./dist/postgres.js";
import { findRedis } from "./dist/redis.js";

/** @param {string} path */
const withVersion = async (path) => {
  const { stdout } = await promisify(execFile)(path, ["--version"]);
  return `${path} ${stdout.split("\n")[0]}`;
};

const [redis, postgres, pgbouncer, moto, workflowsEmulator] = await Promise.all([
  findRedis(),
  findPostgres(),
  findPgbouncer(),
  findMoto(),
  findWorkflowsEmulator(),
]);
const engines = {
  redis: redis.kind === "program" ? { found: await withVersion(redis.path) } : toEntry(redis),
  postgres:
    postgres.kind === "programs" ? { found: await withVersion(join(postgres.folder, "postgres")) } : toEntry(postgres),
  pgbouncer: pgbouncer === undefined ? { missing: "no pgbouncer" } : { found: await withVersion(pgbouncer) },
  moto: moto.kind === "python" ? { found: moto.path } : toEntry(moto),
  workflowsEmulator:
    workflowsEmulator.kind === "python" ? { found: workflowsEmulator.path } : toEntry(workflowsEmulator),
};
console.log(JSON.stringify(engines));

/** @param {{ kind: "url", url: string } | { kind: "missing", reason: string }} engine */
function toEntry(engine) {
  return engine.kind === "url" ? { found: engine.url } : { missing: engine.reason };
}

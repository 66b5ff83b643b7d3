export { ensurePgbouncer, ensurePostgres, findPgbouncer, findPostgres, type PostgresEngine } from "./find-postgres.ts";
export { type Pgbouncer, type PgbouncerOptions, startPgbouncer } from "./pgbouncer.ts";
export { type PostgresServer, type PostgresServerOptions, startPostgres } from "./postgres-server.ts";

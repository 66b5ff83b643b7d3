export { ensurePostgres, findPostgres, type PostgresEngine } from "./find-postgres.ts";
export { type PostgresServer, type PostgresServerOptions, startPostgres } from "./postgres-server.ts";

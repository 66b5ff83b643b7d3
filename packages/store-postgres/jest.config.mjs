import { jestConfig } from "@taskbridge/config/jest";
// Once, before Jest's own workers start.
import { ensurePgbouncer, ensurePostgres } from "@taskbridge/services/postgres";

await ensurePostgres();
await ensurePgbouncer();

export { jestConfig as default };

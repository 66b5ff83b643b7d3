import { jestConfig } from "@taskbridge/config/jest";
// Once, before Jest's own workers start.
import { ensurePostgres } from "@taskbridge/services/postgres";

await ensurePostgres();

export { jestConfig as default };

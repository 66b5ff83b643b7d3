import { jestConfig } from "@taskbridge/config/jest";
import { ensureRedis } from "@taskbridge/services/redis";

// Once, before Jest's own workers start.
await ensureRedis();

export { jestConfig as default };

import { jestConfig } from "@taskbridge/config/jest";
import { ensureRedis } from "./dist/redis.js";

// Once, before Jest's own workers start.
await ensureRedis();

export { jestConfig as default };

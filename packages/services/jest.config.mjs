import { jestConfig } from "@taskbridge/config/jest";
import { ensureMoto } from "./dist/moto.js";
import { ensureRedis } from "./dist/redis.js";

// Once, before Jest's own workers start.
await ensureRedis();
await ensureMoto();

export { jestConfig as default };

import { jestConfig } from "@taskbridge/config/jest";
import { ensureGcw } from "./dist/gcw.js";
import { ensureMoto } from "./dist/moto.js";
import { ensureRedis } from "./dist/redis.js";

// Once, before Jest's own workers start.
await ensureRedis();
await Promise.all([ensureMoto(), ensureGcw()]);

export { jestConfig as default };

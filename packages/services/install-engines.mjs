import { ensureWorkflowsEmulator } from "./dist/find-workflows-emulator.js";
import { ensureMoto } from "./dist/moto.js";
import { ensurePgbouncer, ensurePostgres } from "./dist/postgres.js";
import { ensureRedis } from "./dist/redis.js";

// One after the other: each may need apt-get, which is there for one at a time.
await ensureRedis();
await ensurePostgres();
await ensurePgbouncer();
await ensureMoto();
await ensureWorkflowsEmulator();

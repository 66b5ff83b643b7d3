import { ensureGcw } from "./dist/gcw.js";
import { ensureMoto } from "./dist/moto.js";
import { ensureRedis } from "./dist/redis.js";

/** One after the other: both may need apt-get, which is there for one at a time. */
const installWithApt = async () => {
  await ensureRedis();
  await ensureMoto();
};

await Promise.all([installWithApt(), ensureGcw()]);

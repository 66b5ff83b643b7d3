// The long fault runs: many more kills, and many more random interleavings, than `npm test` has time for.
// TASKBRIDGE_KILL_SEED and TASKBRIDGE_PROPERTY_SEED repeat a run; both seeds are printed.
import { join } from "node:path";
import { install } from "./workspace/install.mjs";
import { root, run } from "./workspace/run.mjs";

const seed = process.env.TASKBRIDGE_KILL_SEED ?? String(Date.now() % 2 ** 31);
const env = {
  TASKBRIDGE_KILL_SEED: seed,
  TASKBRIDGE_KILLS: process.env.TASKBRIDGE_KILLS ?? "20",
  TASKBRIDGE_KILL_RECORDS: process.env.TASKBRIDGE_KILL_RECORDS ?? "100",
  TASKBRIDGE_PROPERTY_SEED: process.env.TASKBRIDGE_PROPERTY_SEED ?? seed,
  TASKBRIDGE_PROPERTY_RUNS: process.env.TASKBRIDGE_PROPERTY_RUNS ?? "10000",
};

await install();
const built = await run("npm", ["run", "--silent", "build"]);
let failed = built.code !== 0;
for (const { folder, tests } of [
  { folder: "packages/server", tests: "test/kill" },
  { folder: "packages/testkit", tests: "test/engine-property" },
]) {
  if (failed) break;
  console.log(`\n── ${folder} ${tests} (seed ${seed})`);
  const { code } = await run("npm", ["test", "--", tests], { env, cwd: join(root, folder) });
  failed = code !== 0;
}
process.exitCode = failed ? 1 : 0;

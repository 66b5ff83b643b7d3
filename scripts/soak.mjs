// The long fault and load runs: many more kills, random interleavings and jobs than `npm test` has time for.
// TASKBRIDGE_KILL_SEED and TASKBRIDGE_PROPERTY_SEED repeat a run; both seeds are printed. Sizes that are set stay as they are.
import { join } from "node:path";
import { install } from "./workspace/install.mjs";
import { root, run } from "./workspace/run.mjs";

const seed = process.env.TASKBRIDGE_KILL_SEED ?? String(Date.now() % 2 ** 31);
const given = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("TASKBRIDGE_")));

/** In order; one file after the other, since what is measured must not measure its neighbour. */
const runs = [
  {
    folder: "packages/server",
    tests: "test/kill",
    sizes: {
      TASKBRIDGE_KILLS: "20",
      TASKBRIDGE_KILL_RECORDS: "100",
      TASKBRIDGE_CLIENT_IDS: "1000",
      TASKBRIDGE_CLIENT_ID_KILLS: "40",
    },
  },
  {
    folder: "packages/server",
    tests: "test/no-tasks/long-pipeline",
    sizes: { TASKBRIDGE_LONG_PIPELINE: "1" },
  },
  {
    folder: "packages/server",
    tests: "test/load",
    sizes: {
      TASKBRIDGE_LOAD_POLLED_MS: "10000",
      TASKBRIDGE_LOAD_RESULT_BYTES: "31000000",
      TASKBRIDGE_LOAD_PUSHED_ENDS: "20",
      TASKBRIDGE_LOAD_COST_ROUNDS: "10",
    },
  },
  {
    folder: "packages/server",
    tests: "test/attach/cost",
    sizes: { TASKBRIDGE_TEST_REQUESTS: "2000", TASKBRIDGE_TEST_CONNECTIONS: "3000" },
  },
  {
    folder: "packages/core",
    tests: "test/engine/property/property",
    sizes: { TASKBRIDGE_PROPERTY_RUNS: "10000", TASKBRIDGE_PROPERTY_SEED: seed },
  },
  {
    folder: "packages/core",
    tests: "test/engine/start/duplicates",
    sizes: { TASKBRIDGE_CLIENT_IDS: "1000" },
  },
  {
    folder: "packages/core",
    tests: "test/engine/outbox/retention",
    sizes: { TASKBRIDGE_EXPIRING: "10000" },
  },
  {
    folder: "packages/store-postgres",
    tests: "test/boots",
    sizes: { TASKBRIDGE_BOOTS: "10" },
  },
  {
    folder: "adapters/bullmq",
    tests: "test/kill",
    sizes: { TASKBRIDGE_KILLS: "50", TASKBRIDGE_KILL_RECORDS: "500", TASKBRIDGE_KILL_REDIS: "3" },
  },
  {
    folder: "adapters/bullmq",
    tests: "test/load",
    sizes: {
      TASKBRIDGE_LOAD_COMPLETIONS: "1000",
      TASKBRIDGE_LOAD_TIMED: "1",
      TASKBRIDGE_LOAD_RUNNING: "10000",
      TASKBRIDGE_LOAD_WATCHED_MS: "6000",
    },
  },
  { folder: "adapters/bullmq", tests: "test/outage.soak", sizes: {} },
  {
    folder: "adapters/step-functions",
    tests: "test/kill",
    sizes: { TASKBRIDGE_KILLS: "20", TASKBRIDGE_KILL_RECORDS: "500", TASKBRIDGE_KILL_LAG_MS: "5000" },
  },
  {
    folder: "adapters/step-functions",
    tests: "test/load",
    sizes: {
      TASKBRIDGE_LOAD_EXECUTIONS: "2000",
      TASKBRIDGE_LOAD_FOREIGN: "10000",
      TASKBRIDGE_LOAD_ENDS: "500",
      TASKBRIDGE_LOAD_WATCHED_MS: "60000",
      TASKBRIDGE_LOAD_UNWATCHED: "2000",
      TASKBRIDGE_LOAD_SWEEP_MS: "20000",
      TASKBRIDGE_LOAD_THROTTLED_MS: "8000",
    },
  },
  {
    folder: "adapters/cloud-workflows",
    tests: "test/kill",
    sizes: {
      TASKBRIDGE_KILLS: "20",
      TASKBRIDGE_KILL_RECORDS: "300",
      // The adapter's own: a start is taken for one that never was a minute after it was sent.
      TASKBRIDGE_KILL_VISIBILITY_DELAY_MS: "60000",
      TASKBRIDGE_KILL_LAG_MS: "5000",
    },
  },
  {
    folder: "adapters/cloud-workflows",
    tests: "test/load",
    sizes: {
      TASKBRIDGE_LOAD_EXECUTIONS: "2000",
      TASKBRIDGE_LOAD_FOREIGN: "10000",
      TASKBRIDGE_LOAD_ENDS: "500",
      TASKBRIDGE_LOAD_WATCHED_MS: "60000",
      TASKBRIDGE_LOAD_UNWATCHED: "2000",
      TASKBRIDGE_LOAD_SWEEP_MS: "20000",
      TASKBRIDGE_LOAD_THROTTLED_MS: "8000",
    },
  },
  {
    folder: "packages/chaos",
    tests: "test/rolling",
    sizes: {
      TASKBRIDGE_ROLL_POLLS: "200",
      TASKBRIDGE_ROLL_ROUNDS: "5",
      TASKBRIDGE_ROLL_REPLICAS: "3",
      TASKBRIDGE_ROLL_WARM_MS: "10000",
    },
  },
];

await install();
const built = await run("npm", ["run", "--silent", "build"]);
let failed = built.code !== 0;
for (const { folder, tests, sizes } of runs) {
  if (failed) break;
  console.log(`\n── ${folder} ${tests} (seed ${seed})`);
  const env = { TASKBRIDGE_SOAK: "1", TASKBRIDGE_KILL_SEED: seed, ...sizes, ...given };
  const { code } = await run("npm", ["test", "--", tests, "--runInBand"], { env, cwd: join(root, folder) });
  failed = code !== 0;
}
process.exitCode = failed ? 1 : 0;

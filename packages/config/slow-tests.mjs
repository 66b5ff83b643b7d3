/** Test files that take long for their size, those of each package in the order to start them in. */
export const slowTests = [
  "adapters/bullmq/test/kill/kill.test.ts",
  "adapters/bullmq/test/e2e/pipelines.test.ts",
  "adapters/bullmq/test/load/sweep.test.ts",
  "adapters/bullmq/test/load/push.test.ts",

  "packages/cli/test/commands/interrupted.test.ts",
  "packages/cli/test/commands/tasks.test.ts",
  "packages/cli/test/source-2025.test.ts",
  "packages/cli/test/commands/hostile-server.test.ts",
  "packages/cli/test/readme.test.ts",

  "packages/server/test/kill/kill.test.ts",
  "packages/server/test/attach/cost.test.ts",
  "packages/server/test/golden/golden.test.ts",
  "packages/server/test/rev-2025/session-churn.test.ts",
  "packages/server/test/kill/client-ids.test.ts",
  "packages/server/test/tasks-sep1686/ids.test.ts",
  "packages/server/test/load/results.test.ts",
  "packages/server/test/load/polling.test.ts",
  "packages/server/test/load/poll-cost.test.ts",

  "packages/store-redis/test/cluster.test.ts",
  "packages/store-redis/test/crash-points.test.ts",
  "packages/store-redis/test/redis-store.test.ts",
  "packages/store-redis/test/faults.test.ts",

  "packages/store-postgres/test/postgres-store.test.ts",
  "packages/store-postgres/test/server-faults.test.ts",

  "packages/core/test/engine/property/property.test.ts",
  "packages/core/test/engine/property/mutants.test.ts",
  "packages/core/test/engine/outbox/retention.test.ts",
  "packages/core/test/engine/start/duplicates.test.ts",
];

// The rolling restart: `node dist/rolling/main.js --polls 200 --rounds 1 [--store redis|sqlite] [--replicas 3] [--drain 3000] [--warm 10000]`.
// The last line is JSON, for tests.
import { parseArgs } from "node:util";
import { ensureEngines, type StoreKind } from "../fleet/backing-store.ts";
import { rollingRun } from "./rolling-run.ts";

const { values } = parseArgs({
  options: {
    polls: { type: "string", default: "200" },
    rounds: { type: "string", default: "1" },
    store: { type: "string", default: "redis" },
    replicas: { type: "string", default: "3" },
    drain: { type: "string", default: "3000" },
    warm: { type: "string", default: "10000" },
  },
});
const missing = await ensureEngines(values.store as StoreKind);
if (missing !== undefined) {
  console.error(`rolling restart: ${missing}`);
  process.exit(1);
}
const { polls, calls, drainFaults, tally, restarts, durationMs } = await rollingRun({
  store: values.store as StoreKind,
  replicas: Number(values.replicas),
  pollsPerSecond: Number(values.polls),
  rounds: Number(values.rounds),
  drainMs: Number(values.drain),
  warmMs: Number(values.warm),
});
const sorted = [...polls.durationMs].sort((one, other) => one - other);
const at = (share: number): number => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
const failed = [...polls.failed].map(([why, times]) => `${why} ×${times}`);
console.log(
  `rolling restart ${values.store}: ${restarts} restarts in ${Math.round(durationMs / 1_000)} s; ${polls.answered} polls answered ` +
    `(${Math.round((polls.answered * 1_000) / durationMs)} per second, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms), ` +
    `failed: ${failed.join(", ") || "none"}, wrong: ${polls.wrong.length}; our client: ${calls.done} calls done, ` +
    `${calls.failed.length} failed; failed at a draining replica: ${drainFaults.length}`,
);
for (const line of [...polls.wrong, ...calls.failed, ...drainFaults].slice(0, 50)) console.log(`  FAULT ${line}`);
console.log(
  JSON.stringify({
    restarts,
    answered: polls.answered,
    failed: Object.fromEntries(polls.failed),
    wrong: polls.wrong,
    done: calls.done,
    callsFailed: calls.failed,
    drainFaults,
    tally,
  }),
);
process.exitCode = polls.wrong.length + calls.failed.length + drainFaults.length === 0 ? 0 : 1;

// The chaos run: `npm run chaos -- --minutes 5 [--seed N] [--store both|redis|postgres|sqlite] [--replicas 3] [--workers 4]
// [--clients 50] [--mixed] [--beside FOLDER]`. Exit code 1: something is not as it was promised, or an engine is missing; 2: an argument is wrong.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { chaosRun } from "./chaos-run.ts";
import { ensureEngines, type StoreKind } from "./fleet/backing-store.ts";
import { toSummary } from "./report/to-summary.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string" },
    store: { type: "string", default: "both" },
    replicas: { type: "string", default: "3" },
    workers: { type: "string", default: "4" },
    clients: { type: "string", default: "50" },
    mixed: { type: "boolean", default: false },
    beside: { type: "string" },
  },
});
const stores: Readonly<Record<string, readonly StoreKind[]>> = {
  redis: ["redis"],
  postgres: ["postgres"],
  both: ["redis", "postgres"],
  sqlite: ["sqlite"],
};
/** So many are shown. */
const maxShown = 50;

const toNumber = (name: keyof typeof values, min: number): number => {
  const number = Number(values[name]);
  if (Number.isFinite(number) && number >= min) return number;
  console.error(`chaos: --${name} must be a number of at least ${min}, got ${values[name]}`);
  process.exit(2);
};

const seed = values.seed === undefined ? Date.now() % 2 ** 31 : toNumber("seed", 0);
const minutes = toNumber("minutes", 0.1);
const replicas = toNumber("replicas", 1);
const workers = toNumber("workers", 1);
const clients = toNumber("clients", 1);
const chosen = stores[values.store];
if (chosen === undefined) {
  console.error(`chaos: --store must be one of ${Object.keys(stores).join(", ")}, got ${values.store}`);
  process.exit(2);
}

const beside = values.beside === undefined ? undefined : resolve(values.beside);
if (beside !== undefined && !existsSync(join(beside, "packages/cli/dist/main.js"))) {
  console.error(`chaos: --beside must be a checkout of taskbridge that has been built, got ${values.beside}`);
  process.exit(2);
}
const more = `${values.mixed ? " --mixed" : ""}${beside === undefined ? "" : ` --beside ${beside}`}`;

const replay = `npm run chaos -- --minutes ${minutes} --seed ${seed} --store ${values.store} --replicas ${replicas} --workers ${workers} --clients ${clients}${more}`;
console.log(`chaos: seed ${seed}`);
let failed = false;
for (const store of chosen) {
  const missing = await ensureEngines(store);
  if (missing !== undefined) {
    // What was asked for by name has to be there.
    failed ||= chosen.length === 1 || process.env["TASKBRIDGE_REQUIRE_ENGINES"] === "1";
    console.error(`chaos ${store}: SKIPPED: ${missing}`);
    continue;
  }
  const log = (line: string): void => console.log(`  ${line}`);
  const outcome = await chaosRun({
    seed,
    minutes,
    store,
    replicas,
    workers,
    clients,
    isMixed: values.mixed,
    beside,
    log,
  });
  for (const line of toSummary(store, outcome)) console.log(line);
  if (outcome.faults.length === 0) continue;
  failed = true;
  for (const fault of outcome.faults.slice(0, maxShown)) console.error(`  FAULT ${fault}`);
  if (outcome.faults.length > maxShown) console.error(`  … and ${outcome.faults.length - maxShown} more`);
  console.error(`Logs and ledgers: ${outcome.folder}\nAgain: ${replay}`);
}
process.exitCode = failed ? 1 : 0;

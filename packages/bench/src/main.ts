import { writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { toCostTable } from "./costs/cost-table.ts";
import { measureCosts } from "./costs/measure-costs.ts";
import { measurePurgeAlone, measureStore, type StoreFigures } from "./measure-store.ts";
import { storeKind, storeKinds } from "./store-kinds.ts";
import { toStoreReport } from "./tables.ts";
import { UsageError } from "./usage-error.ts";

const usage = `npm run bench -- costs [--json FILE]     what a task costs in calls to the store and the backend; takes a second
npm run bench -- stores [options]        what the stores take for them, with few records and with many
npm run bench -- purge [options]         how fast expired records go, and what those who read notice of it

  --store NAME      ${storeKinds.map(({ name }) => name).join(" | ")}; may be repeated. Default: all, one after the other
  --records N       of the larger store. Default 1000000
  --baseline N      of the smaller one, which the larger is held against. Default 10000
  --purge N         expired records that are purged while others are read. Default 100000, 0 for none
  --forget          a backend keeps something for each of those, and is told to forget it
  --rounds N        how often the two are measured in turn, at most. Default 20
  --operations N    of each verb in a round. Default 100
  --seconds N       for each verb, at most, beside its first two rounds. Default 10
  --json FILE       writes all figures there as well`;

const parse = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      store: { type: "string", multiple: true },
      records: { type: "string", default: "1000000" },
      baseline: { type: "string", default: "10000" },
      purge: { type: "string", default: "100000" },
      forget: { type: "boolean", default: false },
      rounds: { type: "string", default: "20" },
      operations: { type: "string", default: "100" },
      seconds: { type: "string", default: "10" },
      json: { type: "string" },
    },
  });

const toNumber = (name: string, text: string, min: number): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < min)
    throw new UsageError(`--${name}: a whole number of at least ${min} is needed, got ${text}`);
  return value;
};

const log = (what: string): void => void process.stderr.write(`${new Date().toISOString()} ${what}\n`);

type Values = ReturnType<typeof parse>["values"];

const save = async (file: string | undefined, figures: object): Promise<void> => {
  if (file !== undefined) await writeFile(file, `${JSON.stringify(figures, null, 2)}\n`);
};

const benchCosts = async ({ json }: Values): Promise<void> => {
  const costs = await measureCosts();
  console.log(toCostTable(costs));
  await save(json, { costs });
};

const benchStores = async (values: Values): Promise<void> => {
  const measured = new Map<string, StoreFigures>();
  const options = {
    records: [toNumber("baseline", values.baseline, 2_000), toNumber("records", values.records, 2_000)],
    rounds: toNumber("rounds", values.rounds, 1),
    operations: toNumber("operations", values.operations, 10),
    verbMs: toNumber("seconds", values.seconds, 1) * 1_000,
    purged: toNumber("purge", values.purge, 0),
    keeps: values.forget,
    log,
    save: async (figures: StoreFigures) => {
      measured.set(figures.store, figures);
      await save(values.json, { node: process.version, load: loadavg(), stores: [...measured.values()] });
    },
  } as const;
  for (const name of values.store ?? storeKinds.map((kind) => kind.name)) {
    await measureStore(storeKind(name), options);
    const figures = measured.get(name);
    if (figures !== undefined) console.log(`${toStoreReport(figures)}\n`);
  }
};

const benchPurge = async (values: Values): Promise<void> => {
  const stores: StoreFigures[] = [];
  const options = {
    records: toNumber("records", values.records, 2_000),
    purged: toNumber("purge", values.purge, 1_000),
    keeps: values.forget,
    log,
  };
  for (const name of values.store ?? storeKinds.map((kind) => kind.name)) {
    const figures = await measurePurgeAlone(storeKind(name), options);
    stores.push(figures);
    console.log(`${toStoreReport(figures)}\n`);
    await save(values.json, { node: process.version, load: loadavg(), stores });
  }
};

const benches = new Map([
  ["costs", benchCosts],
  ["stores", benchStores],
  ["purge", benchPurge],
]);

const main = async (): Promise<void> => {
  const { values, positionals } = parse();
  const bench = benches.get(positionals[0] ?? "");
  if (bench === undefined || positionals.length > 1)
    throw new UsageError(`say what is to be measured: ${[...benches.keys()].join(" or ")}`);
  await bench(values);
};

try {
  await main();
} catch (error) {
  const isUsage = error instanceof UsageError || (error as NodeJS.ErrnoException).code?.startsWith("ERR_PARSE_ARGS");
  console.error(isUsage ? `bench: ${(error as Error).message}\n\n${usage}` : error);
  process.exitCode = isUsage ? 2 : 1;
}

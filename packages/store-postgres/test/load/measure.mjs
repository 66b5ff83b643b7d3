// Prints what the README tells of speed and size: `node test/load/measure.mjs [small large]`, default 10000 and 1000000 records, on
// a server of its own that syncs each commit. Records are seeded by SQL; what is measured goes through the store, by turns
// with the small and the large one, so that what else the machine does concerns both.
import { performance } from "node:perf_hooks";
import { findPostgres, startPostgres } from "@taskbridge/services/postgres";
import { postgresStore } from "@taskbridge/store-postgres";
import { sampleRecord } from "@taskbridge/testkit/store";
import { Client } from "pg";

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [10_000, 1_000_000];
const rounds = 300;
/** So that the pages of an owner are as full in a large store as in a small one. */
const recordsPerOwner = 100;
const purged = Math.min(100_000, ...sizes.slice(-1));
const noLimits = { uniqueKeys: [], maxOpenForOwner: null, maxOpenForTool: null, payloads: [] };
const limits = { ...noLimits, maxOpenForOwner: 1_000_000, maxOpenForTool: 1_000_000 };

const engine = await findPostgres();
if (engine.kind !== "programs") throw new Error("a server of one's own is needed");
const settings = { max_wal_size: "4GB", log_min_messages: "fatal" };
const server = await startPostgres({ programs: engine.folder, durable: true, settings });
const admin = new Client({ connectionString: server.url });
await admin.connect();
try {
  const stores = [];
  for (const size of sizes) stores.push(await prepare(size));
  await admin.query("VACUUM ANALYZE");
  await admin.query("CHECKPOINT");
  await compareAll(stores);
  const { store, owner, some } = stores[stores.length - 1];
  for (const width of [1, 8, 32])
    await rate("creates", width, () => store.create(sampleRecord({ owner: owner() }), noLimits));
  await rate("creates of a tool with a limit", 8, () => store.create(sampleRecord({ owner: owner() }), limits));
  await rate("reads", 8, () => store.read(some()));
  await purge(store, some);
  for (const one of stores) await one.store.close();
} finally {
  await admin.end();
  await server.stop();
}

/** @param {number} size */
async function prepare(size) {
  const schema = `measured_${size}`;
  const store = await postgresStore({ url: server.url, schema });
  await seed(schema, size);
  const { rows } = await admin.query(
    `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relkind = 'r'`,
    [schema],
  );
  console.log(
    `${size} records: ${Math.round(Number(rows[0].bytes) / size)} bytes each, with indexes and 200 bytes of input`,
  );
  let cursor;
  return {
    store,
    some: () => `seed-${1 + Math.floor(Math.random() * size)}`,
    owner: () => `owner-${Math.floor((Math.random() * size) / recordsPerOwner)}`,
    nextPage: async () => {
      ({ cursor } = await store.list({ operator: true }, {}, cursor, 50));
    },
  };
}

/** @param {string} schema @param {number} size */
async function seed(schema, size) {
  const ref = "arn:aws:states:eu-west-1:123456789012:execution:transcode:REF";
  const { taskId: _, startKey: __, ...rest } = sampleRecord({ slotHeld: false, revision: 1, state: "succeeded", ref });
  const template = JSON.stringify({ taskId: "ID", startKey: "mcp-ID", ...rest }).replaceAll("'", "''");
  const rows = `FROM generate_series(1, ${size}) n`;
  await admin.query(`INSERT INTO ${schema}.tasks SELECT 'seed-' || n, 1, 'owner-' || n % ${size / recordsPerOwner},
    'transcode', CASE WHEN n IN (7, ${size / 2}) THEN 'rare' ELSE 'video' END, hashint8(n) * 4294967296 + n,
    hashint8(-n) * 4294967296 + n, 1767225600000 + n, n IN (7, ${size / 2}), false,
    replace('${template}', 'ID', 'seed-' || n) ${rows}`);
  await admin.query(
    `INSERT INTO ${schema}.wakes SELECT 'seed-' || n, CASE WHEN n <= 1000 THEN n ELSE 4e12 + n END ${rows}`,
  );
  await admin.query(`INSERT INTO ${schema}.payloads
    SELECT 'seed-' || n, 'input', 200, NULL, decode(repeat('ab', 200), 'hex') ${rows}`);
}

/** @param {Awaited<ReturnType<typeof prepare>>[]} stores */
async function compareAll(stores) {
  console.log(`\n${"p50 / p99 (ms)".padEnd(18)}${sizes.map((size) => String(size).padStart(16)).join("")}`);
  await compare(stores, "create", ({ store, owner }) => store.create(sampleRecord({ owner: owner() }), limits));
  await compare(stores, "read", ({ store, some }) => store.read(some()));
  await compare(stores, "read and revise", async ({ store, some }) => {
    const record = await store.read(some());
    await store.revise({ ...record, message: "new", wakeAt: store.now() + 1e6 }, record.revision);
  });
  await compare(stores, "list of an owner", ({ store, owner }) => store.list({ owner: owner() }, {}, undefined, 50));
  await compare(stores, "next page of all", ({ nextPage }) => nextPage());
  const open = { adapterId: "rare", slotHeld: true };
  await compare(stores, "open of adapter", ({ store }) => store.list({ operator: true }, open, undefined, 100));
  await compare(stores, "due, claimed", ({ store }) => store.due(10, 1));
  await compare(stores, "due", ({ store }) => store.due(10));
  await compare(stores, "next wake-up", ({ store }) => store.nextWakeAt());
  await compare(stores, "find by key", ({ store, some }) => store.findByExecution("video", { key: `mcp-${some()}` }));
}

/** @param {Awaited<ReturnType<typeof prepare>>[]} stores @param {string} name @param {(one: Awaited<ReturnType<typeof prepare>>) => Promise<unknown>} work */
async function compare(stores, name, work) {
  const durations = stores.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, one] of stores.entries()) {
      const startedAt = performance.now();
      await work(one);
      durations[index].push(performance.now() - startedAt);
    }
  }
  console.log(`${name.padEnd(18)}${durations.map((all) => describe(all).padStart(16)).join("")}`);
}

/** @param {number[]} durations */
function describe(durations) {
  durations.sort((a, b) => a - b);
  const at = (share) => (durations[Math.floor(durations.length * share)] ?? 0).toFixed(1);
  return `${at(0.5)} / ${at(0.99)}`;
}

/** @param {string} name @param {number} width @param {() => Promise<unknown>} work */
async function rate(name, width, work) {
  const startedAt = performance.now();
  let count = 0;
  const worker = async () => {
    while (performance.now() - startedAt < 2_000) {
      await work();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  console.log(`${name}, ${width} at once: ${Math.round((1000 * count) / (performance.now() - startedAt))}/s`);
}

/** @param {import("@taskbridge/core/store").TaskStore} store @param {() => string} some */
async function purge(store, some) {
  const readUntil = async (isOver) => {
    const durations = [];
    while (!isOver(durations.length)) {
      const startedAt = performance.now();
      await store.read(some());
      durations.push(performance.now() - startedAt);
    }
    return durations;
  };
  console.log(`reads alone: ${describe(await readUntil((count) => count >= rounds))} ms`);
  const startedAt = performance.now();
  let next = 1;
  let isOver = false;
  const reading = readUntil(() => isOver);
  const worker = async () => {
    while (next <= purged) await store.remove(`seed-${next++}`);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  isOver = true;
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`reads while ${purged} are removed, in ${seconds.toFixed(0)} s: ${describe(await reading)} ms`);
}

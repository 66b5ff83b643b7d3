// Prints what the README tells of speed and size: `node test/load/measure.mjs [records …]`, default 10000 and 1000000, on a server of
// its own that syncs each commit. Records are seeded by SQL; what is measured goes through the store.
import { performance } from "node:perf_hooks";
import { findPostgres, startPostgres } from "@taskbridge/services/postgres";
import { postgresStore } from "@taskbridge/store-postgres";
import { sampleRecord } from "@taskbridge/testkit/store";
import { Client } from "pg";

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [10_000, 1_000_000];
const rounds = 400;
/** So that the pages of an owner are as full in a large store as in a small one. */
const recordsPerOwner = 100;
const purged = 100_000;
const noLimits = { uniqueKeys: [], maxOpenForOwner: null, maxOpenForTool: null, payloads: [] };

const engine = await findPostgres();
if (engine.kind !== "programs") throw new Error("a server of one's own is needed");
const server = await startPostgres({
  programs: engine.folder,
  durable: true,
  settings: { max_wal_size: "4GB", log_min_messages: "fatal" },
});
const admin = new Client({ connectionString: server.url });
await admin.connect();
try {
  for (const size of sizes) await measure(size);
} finally {
  await admin.end();
  await server.stop();
}

/** @param {number} size */
async function measure(size) {
  const schema = `measured_${size}`;
  const store = await postgresStore({ url: server.url, schema });
  await seed(schema, size);
  const bytes = await admin.query(
    `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relkind = 'r'`,
    [schema],
  );
  console.log(`\n${size} records, ${Math.round(Number(bytes.rows[0].bytes) / size)} bytes each with indexes and input`);
  const some = () => `seed-${1 + Math.floor(Math.random() * size)}`;
  const owner = () => `owner-${Math.floor((Math.random() * size) / recordsPerOwner)}`;
  const limits = { ...noLimits, maxOpenForOwner: 1_000_000, maxOpenForTool: 1_000_000 };
  await time("create", () => store.create(sampleRecord({ owner: owner(), tool: `tool-${owner()}` }), limits));
  await time("create, light", () => store.create(sampleRecord({ owner: owner() }), noLimits));
  await time("read", () => store.read(some()));
  await time("revise", async () => {
    const record = await store.read(some());
    await store.revise({ ...record, message: "new", wakeAt: store.now() + 1e6 }, record.revision);
  });
  await time("list page", () => store.list({ owner: owner() }, {}, undefined, 50));
  let { cursor } = await store.list({ operator: true }, {}, undefined, 1);
  await time("next page", async () => {
    ({ cursor } = await store.list({ operator: true }, {}, cursor, 5));
  });
  await time("open of adapter", () =>
    store.list({ operator: true }, { adapterId: "rare", slotHeld: true }, undefined, 100),
  );
  await time("due, claimed", () => store.due(10, 1));
  await time("due", () => store.due(10));
  await time("next wake-up", () => store.nextWakeAt());
  await time("find", () => store.findByExecution("video", { key: `mcp-${some()}` }));
  for (const width of [1, 8, 32])
    await rate("creates", width, () => store.create(sampleRecord({ owner: owner() }), noLimits));
  await rate("reads", 8, () => store.read(some()));
  if (size >= purged) await purge(store, some);
  await store.close();
  await admin.query(`DROP SCHEMA ${schema} CASCADE`);
}

/** @param {string} schema @param {number} size */
async function seed(schema, size) {
  const { taskId, startKey, ...rest } = sampleRecord({
    slotHeld: false,
    revision: 1,
    state: "succeeded",
    ref: "arn:aws:states:eu-west-1:123456789012:execution:transcode:REF",
  });
  const template = JSON.stringify({ taskId: "ID", startKey: "mcp-ID", ...rest }).replaceAll("'", "''");
  await admin.query(`INSERT INTO ${schema}.tasks
    SELECT 'seed-' || n, 1, 'owner-' || n % ${size / recordsPerOwner}, 'transcode', 'video', hashint8(n) * 4294967296 + n, hashint8(-n) * 4294967296 + n,
      1767225600000 + n, false, false, replace('${template}', 'ID', 'seed-' || n) FROM generate_series(1, ${size}) n`);
  await admin.query(
    `UPDATE ${schema}.tasks SET adapter_id = 'rare', slot_held = true WHERE task_id IN ('seed-7', 'seed-${Math.floor(size / 2)}')`,
  );
  await admin.query(
    `INSERT INTO ${schema}.wakes SELECT 'seed-' || n, CASE WHEN n <= 1000 THEN n ELSE 4e12 + n END FROM generate_series(1, ${size}) n`,
  );
  await admin.query(
    `INSERT INTO ${schema}.payloads SELECT 'seed-' || n, 'input', 200, NULL, decode(repeat('ab', 200), 'hex') FROM generate_series(1, ${size}) n`,
  );
  await admin.query("VACUUM ANALYZE");
  await admin.query("CHECKPOINT");
}

/** @param {string} name @param {() => Promise<unknown>} work */
async function time(name, work) {
  const took = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    await work();
    took.push(performance.now() - startedAt);
  }
  console.log(`  ${name.padEnd(16)} ${describe(took)}`);
}

/** @param {number[]} took */
function describe(took) {
  took.sort((a, b) => a - b);
  const at = (share) => (took[Math.floor(took.length * share)] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

/** @param {string} name @param {number} width @param {() => Promise<unknown>} work */
async function rate(name, width, work) {
  const startedAt = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (performance.now() - startedAt < 2_000) {
        await work();
        count += 1;
      }
    }),
  );
  console.log(
    `  ${`${name}, ${width} at once`.padEnd(22)} ${Math.round((1000 * count) / (performance.now() - startedAt))}/s`,
  );
}

/** @param {import("@taskbridge/core/store").TaskStore} store @param {() => string} some */
async function purge(store, some) {
  const reads = async (isOver) => {
    const took = [];
    while (!isOver(took.length)) {
      const startedAt = performance.now();
      await store.read(some());
      took.push(performance.now() - startedAt);
    }
    return took;
  };
  console.log(`  reads alone            ${describe(await reads((count) => count >= rounds))}`);
  const startedAt = performance.now();
  let next = 1;
  let isOver = false;
  const reading = reads(() => isOver);
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (next <= purged) await store.remove(`seed-${next++}`);
    }),
  );
  isOver = true;
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`  reads during a purge   ${describe(await reading)}; ${purged} removed in ${seconds.toFixed(0)} s`);
}

// A server over BullMQ and SQLite. PUSH=off: it hears of nothing and has to look. Prints its URL.
import { bullmq } from "@taskbridge/adapter-bullmq";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { FOLDER, QUEUE_URL, PREFIX, QUEUE, PUSH = "on" } = process.env;
const { watch, ...looking } = bullmq({ url: QUEUE_URL, prefix: PREFIX });
const stats = new Map();
const timed = (name, fn) => async (...a) => { const t = performance.now(); try { return await fn(...a); } finally { const l = stats.get(name) ?? []; l.push(performance.now() - t); stats.set(name, l); } };
const st = await sqliteStore({ path: `${FOLDER}/tasks.db` });
for (const k of ["create","read","revise","saveCursor","readPayload","findByExecution","due","nextWakeAt","lease"]) { const f = st[k]; st[k] = timed(k, f); }
const w0 = watch;
let lastN = 0;
const watch2 = (req, ctx) => w0({ ...req, sink: timed("sink", (u, c) => { const l = stats.get("batch") ?? []; l.push(u.length); stats.set("batch", l); return req.sink(u, c); }) }, ctx);
looking.inspect = timed("inspect", looking.inspect);
import { monitorEventLoopDelay } from "node:perf_hooks";
let cpu = process.cpuUsage();
setInterval(() => { const c = process.cpuUsage(cpu); cpu = process.cpuUsage(); process.stderr.write("CPU " + Math.round((c.user + c.system) / 10000) + "% " + [...stats].map(([k, l]) => { l.sort((a, b) => a - b); return `${k} n=${l.length} p50=${l[l.length >> 1].toFixed(1)} max=${l.at(-1).toFixed(0)}`; }).join("; ") + "\n"); stats.clear(); }, 1000);
const server = await createTaskServer({
  name: "load",
  store: st,
  adapters: { queue: PUSH === "off" ? looking : { ...looking, watch: watch2 } },
  limits: { maxConcurrentTasksPerOwner: 20_000, maxListenStreamsPerOwner: 200 },
  tools: [
    {
      name: "work",
      description: "Works until it is told to end.",
      adapter: "queue",
      target: { queue: QUEUE, job: "work" },
      input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    },
  ],
});
const { url } = await server.listen({ port: 0 });
process.stdout.write(`${url}\n`);

// A server over BullMQ and SQLite. PUSH=off: it hears of nothing and has to look; else it looks so rarely that an end that it does
// not hear of is noticed much too late. Prints its URL.
import { bullmq } from "@taskbridge/adapter-bullmq";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { FOLDER, QUEUE_URL, PREFIX, QUEUE, PUSH = "on" } = process.env;
const { watch, ...inspecting } = bullmq({ url: QUEUE_URL, prefix: PREFIX });
const server = await createTaskServer({
  name: "load",
  store: await sqliteStore({ path: `${FOLDER}/tasks.db` }),
  adapters: { queue: PUSH === "off" ? inspecting : { ...inspecting, watch } },
  limits: { maxConcurrentTasksPerOwner: 20_000, maxListenStreamsPerOwner: 200 },
  tools: [
    {
      name: "work",
      description: "Works until it is told to end.",
      adapter: "queue",
      target: { queue: QUEUE, job: "work" },
      input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      ...(PUSH === "off" ? {} : { task: { pollIntervalMs: 60_000 } }),
    },
  ],
});
const { url } = await server.listen({ port: 0 });
process.stdout.write(`${url}\n`);

// A server over Cloud Workflows and SQLite, without push. Prints its URL.
import { cloudWorkflows } from "@taskbridge/adapter-cloud-workflows";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { FOLDER, ENDPOINT, SWEEP_MS = "60000" } = process.env;
const server = await createTaskServer({
  name: "load",
  store: await sqliteStore({ path: `${FOLDER}/tasks.db` }),
  adapters: { gcp: cloudWorkflows({ project: "demo", location: "europe-west1", endpoint: ENDPOINT }) },
  limits: {
    maxConcurrentTasksPerOwner: 20_000,
    maxListenStreamsPerOwner: 200,
    sweepIntervalMs: Number(SWEEP_MS),
  },
  tools: [
    {
      name: "work",
      description: "Runs until it is told to end.",
      adapter: "gcp",
      target: { workflow: "orders" },
      input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    },
  ],
});
const { url } = await server.listen({ port: 0 });
process.stdout.write(`${url}\n`);

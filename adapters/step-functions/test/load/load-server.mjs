// A server over Step Functions and SQLite, without push. Prints its URL.
import { stepFunctions } from "@taskbridge/adapter-step-functions";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { FOLDER, ENDPOINT, SWEEP_MS = "60000" } = process.env;
const server = await createTaskServer({
  name: "load",
  store: await sqliteStore({ path: `${FOLDER}/tasks.db` }),
  adapters: { aws: stepFunctions({ region: "eu-west-1", endpoint: ENDPOINT }) },
  limits: {
    maxConcurrentTasksPerOwner: 20_000,
    maxListenStreamsPerOwner: 200,
    sweepIntervalMs: Number(SWEEP_MS),
  },
  tools: [
    {
      name: "work",
      description: "Runs until it is told to end.",
      adapter: "aws",
      target: { stateMachine: "orders" },
      input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    },
  ],
});
const { url } = await server.listen({ port: 0 });
process.stdout.write(`${url}\n`);

// Serves a survey until SIGINT or SIGTERM.
//   PORT=3000 SURVEY_DATA=.cache node dist/server.js
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { processAdapter } from "@taskbridge/adapter-process";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { PORT = "3000", SURVEY_DATA = ".cache" } = process.env;
const data = resolve(SURVEY_DATA);
await mkdir(data, { recursive: true });

const server = await createTaskServer({
  name: "survey",
  store: await sqliteStore({ path: join(data, "tasks.db") }),
  adapters: { local: processAdapter({ directory: join(data, "jobs") }) },
  // `sep-1686` lets clients choose their own IDs, so that a call that is sent twice runs once.
  wires: ["2026-07-28", "2025-11-25", "sep-1686", "none"],
  tools: [
    {
      name: "survey",
      description: "Counts for two seconds.",
      adapter: "local",
      target: { command: ["node", "jobs/survey.mjs", join(data, "runs.log")] },
      task: { pollIntervalMs: 200 },
    },
  ],
});
const { url } = await server.listen({ port: Number(PORT) });
console.log(`The survey is at ${url}`);

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close());

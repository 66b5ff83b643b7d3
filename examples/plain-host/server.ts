// Serves one pipeline to the host that starts this, over stdin and stdout.
//   DATA=.cache node dist/server.js
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { processAdapter } from "@taskbridge/adapter-process";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { DATA: data = ".cache" } = process.env;
await mkdir(data, { recursive: true });

const server = await createTaskServer({
  name: "reports",
  store: await sqliteStore({ path: join(data, "tasks.db") }),
  adapters: { local: processAdapter({ directory: join(data, "jobs") }) },
  tools: [
    {
      name: "yearly_report",
      description: "Adds up the orders of a year. Takes a while.",
      adapter: "local",
      target: {
        // Hosts start their servers in a folder of their choice.
        command: ["node", fileURLToPath(new URL("../jobs/yearly-report.mjs", import.meta.url)), "{{input.year}}"],
      },
      input: {
        type: "object",
        properties: { year: { type: "integer" } },
        required: ["year"],
        additionalProperties: false,
      },
      output: {
        type: "object",
        properties: { year: { type: "integer" }, orders: { type: "integer" } },
        required: ["year", "orders"],
        additionalProperties: false,
      },
    },
  ],
  waitMs: 1_000, // so that this example takes seconds; the default of 30,000 suits hosts that give up after a minute
});
await server.serveStdio();
await server.close();

import { join } from "node:path";
import { processAdapter } from "@taskbridge/adapter-process";
import { createTaskServer, type TaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

/** The shop's scripts as tasks. One task server for all sessions: a task outlives the session that it was called in. */
export const openPipelines = async (file: string, data: string): Promise<TaskServer> =>
  createTaskServer({
    name: "shop",
    store: await sqliteStore({ path: join(data, "tasks.db") }),
    adapters: { local: processAdapter({ directory: join(data, "jobs") }) },
    tools: [
      {
        name: "reprice",
        description: "Changes all prices by some percent. Compares with other shops first, then asks. Takes a minute.",
        adapter: "local",
        target: { command: ["node", "jobs/reprice.mjs", file, "{{input.percent}}"] },
        input: {
          type: "object",
          properties: { percent: { type: "number", minimum: -50, maximum: 50 } },
          required: ["percent"],
          additionalProperties: false,
        },
        output: {
          type: "object",
          properties: { changed: { type: "integer" } },
          required: ["changed"],
        },
        task: { pollIntervalMs: 200 },
      },
      {
        name: "import_stock",
        description: "Asks every supplier for their stock and notes it. Takes minutes.",
        adapter: "local",
        target: { command: ["node", "jobs/import-stock.mjs", file] },
        task: { pollIntervalMs: 200 },
      },
    ],
  });

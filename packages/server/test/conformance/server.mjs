// The server that the official conformance suite is run against. Its tasks are jobs of the process adapter, kept in a SQLite
// store, both in the folder that is the one argument. Prints its URL; stops its jobs and ends when stdin closes.
import { once } from "node:events";
import { join } from "node:path";
import { processAdapter } from "@taskbridge/adapter-process";
import { localOwner } from "@taskbridge/core";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { askingTools } from "./asking-tools.mjs";
import { contentTools } from "./content-tools.mjs";
import { diagnosticTools } from "./diagnostic-tools.mjs";
import { elicitingTools } from "./eliciting-tools.mjs";
import { pipelineTools } from "./pipeline-tools.mjs";

const stopJobMs = 10_000;
const [folder] = process.argv.slice(2);

const server = await createTaskServer({
  name: "conformance-fixture",
  store: await sqliteStore({ path: join(folder, "tasks.db") }),
  adapters: { local: processAdapter({ directory: join(folder, "jobs"), baseDirectory: folder }) },
  tools: pipelineTools,
  plainTools: [...contentTools, ...diagnosticTools(() => server.toolsChanged()), ...askingTools, ...elicitingTools],
  // Some scenarios leave jobs running.
  limits: { maxConcurrentTasksPerOwner: 1_000 },
});
// Ctrl-C reaches the whole process group; whoever started us says when to end.
process.on("SIGINT", () => {});
const { url } = await server.listen({ port: 0 });
process.stdout.write(`${url}\n`);

process.stdin.resume();
await once(process.stdin, "end");
await stopJobs();
await server.close();

/** A job outlives its server by design, and this one's folder is about to go. */
async function stopJobs() {
  const access = { owner: localOwner };
  const stop = async (taskId) => {
    await server.engine.cancelTask(taskId, access, { reason: "the run is over", isFinal: false });
    await server.engine.waitForTask(taskId, access, { until: "ended", timeoutMs: stopJobMs });
  };
  for (let cursor; ; ) {
    const page = await server.engine.listTasks(access, { slotHeld: true }, cursor, 100);
    await Promise.all(page.tasks.map(({ record }) => stop(record.taskId)));
    if (page.cursor === undefined) return;
    cursor = page.cursor;
  }
}

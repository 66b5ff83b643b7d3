// Keeps the engine with the workflow at 127.0.0.1:8787, or another port, until Ctrl-C.
//   node dist/engine.js [PORT]
import { once } from "node:events";
import { openEngine } from "./open-engine.ts";

const stopped = Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
try {
  const engine = await openEngine(Number(process.argv[2] ?? 8787));
  console.log(`${engine.url} has the workflow publish in my-project, europe-west1. Ctrl-C ends it.`);
  await stopped;
  await engine.close();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

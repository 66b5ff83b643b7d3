import { errnoOf } from "./job-folder.ts";
import { superviseJob } from "./supervise-job.ts";

/**
 * A process of its own for each job, started by the adapter: `supervisor.js FOLDER [POINT]`. With POINT it kills itself
 * there, for the tests of what a crash leaves behind. Imports nothing but Node, to start fast.
 */
const [folder = "", dieAt] = process.argv.slice(2);

/** Read by the adapter: the disk is full, and nothing was run. */
const noRoom = 28;

let wake = (): void => {};
// SIGCONT as the wake-up call: harmless to a stranger, and it gets a stopped supervisor going.
process.on("SIGCONT", () => wake());
// A shutdown that signals every process must not take the witness away before the command itself has ended.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});

try {
  await superviseJob(folder, {
    onWake(listener) {
      wake = listener;
    },
    reached(point) {
      if (point === dieAt) process.kill(process.pid, "SIGKILL");
    },
  });
  process.exit(0);
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exit(errnoOf(error) === "ENOSPC" || errnoOf(error) === "EDQUOT" ? noRoom : 1);
}

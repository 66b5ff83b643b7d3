import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, jobFile, noRoomCode } from "./job-folder.ts";
import { superviseJob } from "./supervise-job.ts";

let wake = (): void => {};
// SIGCONT as the wake-up call: harmless to a stranger, and it gets a stopped supervisor going.
process.on("SIGCONT", () => wake());
// A shutdown that signals every process must not take the witness away before the command itself has ended.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});

/**
 * A process of its own for each job, started by the adapter: `supervisor.js FOLDER [POINT]`; without arguments it waits
 * for the folder on stdin, and ends when that does. With POINT it kills itself there, for the tests of what a crash
 * leaves behind. Imports nothing but Node, to start fast.
 */
const readFolder = async (): Promise<string> => {
  let text = "";
  for await (const chunk of process.stdin) text += chunk;
  return text.trimEnd();
};

const [, , given, dieAt] = process.argv;
const folder = given ?? (await readFolder());
if (folder === "") process.exit(0);

const note = (error: unknown): void => {
  const text = error instanceof Error ? error.stack : String(error);
  try {
    appendFileSync(join(folder, jobFile.supervisorLog), `${text}\n`, { mode: 0o600 });
  } catch {
    // There is nobody left to tell.
  }
};
// While a command runs, a supervisor that goes on in doubt is worth more than a job that nobody follows.
process.on("uncaughtException", note);

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
  note(error);
  process.exit(errnoOf(error) === "ENOSPC" || errnoOf(error) === "EDQUOT" ? noRoomCode : 1);
}

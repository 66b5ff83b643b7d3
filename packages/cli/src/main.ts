#!/usr/bin/env node
import { runProgram } from "./run-program.ts";

// A reader that has seen enough (`| head`) is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const exitCode = await runProgram(process.argv.slice(2));
for (const stream of [process.stdout, process.stderr]) {
  await new Promise<void>((resolve) => stream.write("", () => resolve()));
}
// What an adapter has begun and cannot end (a file system that does not answer) must not keep the process.
process.exit(exitCode);

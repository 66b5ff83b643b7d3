#!/usr/bin/env node
import { toFailure } from "./cli-error.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { createProgram } from "./program.ts";

// A reader that has seen enough (`| head`) is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

try {
  await createProgram((code) => {
    process.exitCode = code;
  }).parseAsync();
} catch (error) {
  const { message, exitCode } = toFailure(error);
  if (message !== "") process.stderr.write(`${hideSecrets(message)}\n`);
  process.exitCode = exitCode;
}

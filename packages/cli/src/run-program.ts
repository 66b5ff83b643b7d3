import { exitCodes, toFailure } from "./cli-error.ts";
import { createProgram } from "./program.ts";
import { safeText } from "./terminal/safe-text.ts";

/** Runs one command line, without the program's own name, and resolves with the exit code. Never rejects. */
export const runProgram = async (args: readonly string[]): Promise<number> => {
  let exitCode: number = exitCodes.completed;
  try {
    const program = createProgram((code) => {
      exitCode = code;
    });
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    const failure = toFailure(error);
    if (failure.message !== "") process.stderr.write(`${safeText(failure.message)}\n`);
    exitCode = failure.exitCode;
  }
  return exitCode;
};

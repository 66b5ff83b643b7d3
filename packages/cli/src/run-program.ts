import { exitCodes, type Failure, toFailure } from "./cli-error.ts";
import { dashIdHint, markDashId } from "./dash-id.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { createProgram } from "./program.ts";
import { formatDocument } from "./terminal/format-task.ts";
import { safeText } from "./terminal/safe-text.ts";

/** Runs one command line, without the program's own name, and resolves with the exit code. Never rejects. */
export const runProgram = async (args: readonly string[]): Promise<number> => {
  let exitCode: number = exitCodes.completed;
  try {
    const program = createProgram((code) => {
      exitCode = code;
    });
    await program.parseAsync([...markDashId(program, args)], { from: "user" });
  } catch (error) {
    const failure = toFailure(error);
    exitCode = failure.exitCode;
    report(failure, failure.code === "usage" && failure.isReported ? dashIdHint(args) : failure.hint);
    if (wantsDocument(args) && !failure.isAfterOutput && exitCode !== exitCodes.completed) printFailure(failure);
  }
  return exitCode;
};

const report = ({ message, stack = message, isReported = false }: Failure, hint: string | undefined): void => {
  if (!isReported) process.stderr.write(`${safeText(stack)}\n`);
  if (hint !== undefined) process.stderr.write(`${hint}\n`);
};

/** Whoever asked for a document gets one, whatever happens; also where the command line itself cannot be read. */
const wantsDocument = (args: readonly string[]): boolean => {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).includes("--json");
};

const printFailure = ({ code, message, taskId }: Failure): void => {
  const error = { code, message: hideSecrets(message), ...(taskId === undefined ? {} : { taskId }) };
  process.stdout.write(`${formatDocument({ error })}\n`);
};

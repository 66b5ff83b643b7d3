import { readFileSync } from "node:fs";
import type { JsonObject } from "@taskbridge/core";
import { CliError, exitCodes, interruptedError, usageError } from "../cli-error.ts";
import { closeAfter } from "../close-after.ts";
import { openSource, type SourceFlags } from "../open-source.ts";
import type { CallOutcome, Question, TaskSource } from "../task-source.ts";
import { askQuestions } from "../terminal/ask-questions.ts";
import { followTask, printResult, printText } from "../terminal/follow-task.ts";
import { formatDocument } from "../terminal/format-task.ts";
import { type Interruption, interruption } from "../terminal/interruption.ts";
import { isInteractive } from "../terminal/is-interactive.ts";
import { parseJsonFlag } from "../terminal/parse-json-flag.ts";
import { safeLine, safeText } from "../terminal/safe-text.ts";

export interface CallFlags extends SourceFlags {
  readonly input?: string;
  readonly inputFile?: string;
  readonly json?: boolean;
}

/** Starts a pipeline and stays with it to its end. Resolves with the exit code. */
export const call = async (tool: string, flags: CallFlags): Promise<number> => {
  const input = readInput(flags);
  const interrupted = interruption();
  const { json = false } = flags;
  const asks = isInteractive();
  try {
    const source = await openSource(flags, { background: true, asks, signal: interrupted.signal });
    const run = async (): Promise<number> => {
      const outcome = await start(source, tool, input, interrupted);
      if (outcome.kind === "result") return printImmediate(outcome, json);
      return followTask(source, outcome.task, { ask: asks, json }, interrupted);
    };
    return await closeAfter(run, source.close);
  } finally {
    interrupted.dispose();
  }
};

const readInput = ({ input, inputFile }: CallFlags): JsonObject => {
  if (input !== undefined && inputFile !== undefined) throw usageError("give either --input or --input-file, not both");
  const text = inputFile === undefined ? (input ?? "{}") : readInputFile(inputFile);
  const flag = inputFile === undefined ? "--input" : `--input-file ${inputFile}`;
  const value = parseJsonFlag(flag, text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw usageError(`${flag}: a JSON object is needed, got ${text.slice(0, 80)}`);
};

const readInputFile = (file: string): string => {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw usageError(`--input-file: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
};

const start = async (
  source: TaskSource,
  tool: string,
  input: JsonObject,
  { signal, interrupt }: Interruption,
): Promise<CallOutcome> => {
  const ask = (questions: readonly Question[]): ReturnType<typeof askQuestions> => {
    if (!isInteractive()) {
      throw new CliError(`the tool asks before it starts, and this is no terminal: ${questions[0]?.message}`);
    }
    return askQuestions(questions, { input: process.stdin, output: process.stderr }, signal, interrupt);
  };
  try {
    return await source.callTool(tool, input, { ask, signal, report: notify });
  } catch (error) {
    if (!signal.aborted || (error instanceof CliError && error.exitCode === exitCodes.interrupted)) throw error;
    throw interruptedError("Interrupted before there was a task.");
  }
};

const notify = (line: string): void => {
  process.stderr.write(`${safeLine(line)}\n`);
};

const printImmediate = ({ result, failed }: CallOutcome & { kind: "result" }, json: boolean): number => {
  const state = failed ? "failed" : "succeeded";
  if (json) printText(formatDocument({ state, result: result.json ?? result.text }));
  else if (failed) process.stderr.write(`failed: ${safeText(result.text)}\n`);
  else printResult(result);
  if (!failed) return exitCodes.completed;
  return isAboutArguments.test(result.text) ? exitCodes.usage : exitCodes.failed;
};

/** Servers of ours refuse arguments with a result, for a model to correct itself: `arguments.file: must be string`. */
const isAboutArguments = /^arguments(?:[./[][^:\n]*)?: /;

import type { GivenAnswer } from "@taskbridge/core";
import { CliError, exitCodes, usageError } from "../cli-error.ts";
import type { Answers, Question, TaskSource } from "../task-source.ts";
import { askQuestions } from "../terminal/ask-questions.ts";
import { printDocument, printText } from "../terminal/follow-task.ts";
import { interruption } from "../terminal/interruption.ts";
import { isInteractive } from "../terminal/is-interactive.ts";
import { parseJsonFlag } from "../terminal/parse-json-flag.ts";
import { taskCommand } from "../terminal/task-command.ts";
import { type TasksFlags, withSource } from "./tasks.ts";

export interface AnswerFlags extends TasksFlags {
  readonly input?: string;
  readonly key?: string;
  readonly action?: GivenAnswer["action"];
}

/** Answers what a task asks: from the flags, or by asking on the terminal. */
export const answerTask = async (taskId: string, flags: AnswerFlags): Promise<number> => {
  const content = flags.input === undefined ? undefined : parseJsonFlag("--input", flags.input);
  if (content !== undefined && (flags.action ?? "accept") !== "accept") {
    throw usageError(`--input goes with accept only, not with --action ${flags.action}`);
  }
  return withSource(flags, async (source) => {
    if (source.answeredBy === "follower") throw notByCommand(taskId, source);
    const { questions } = await source.readTask(taskId);
    const chosen = flags.key === undefined ? questions : questions.filter(({ key }) => key === flags.key);
    if (chosen.length === 0) throw nothingToAnswer(questions, flags.key);
    const isGiven = content !== undefined || flags.action !== undefined;
    const answers = isGiven
      ? givenAnswer(chosen, { action: flags.action ?? "accept", ...(content === undefined ? {} : { content }) })
      : await askHere(chosen);
    const ignored = await source.answerTask(taskId, answers);
    if (ignored.length > 0) throw new CliError(`not open any more: ${ignored.join(", ")}`);
    if (flags.json) printDocument(await source.readTask(taskId));
    else printText(`answered ${Object.keys(answers).join(", ")}`);
    return exitCodes.completed;
  });
};

const notByCommand = (taskId: string, { flags, wire }: TaskSource): CliError =>
  usageError(
    `tasks answer: ${wire === "sep-1686" ? "the SEP-1686 draft" : `MCP ${wire}`} has no request that answers a question: the server asks whoever follows the task.\nOn a terminal, this is asked:\n  ${taskCommand("watch", taskId, flags)}`,
  );

const nothingToAnswer = (questions: readonly Question[], key: string | undefined): CliError =>
  key === undefined || questions.length === 0
    ? new CliError("the task asks nothing")
    : new CliError(`there is no open question "${key}"; open: ${questions.map((question) => question.key).join(", ")}`);

const givenAnswer = ([question, ...more]: readonly Question[], answer: GivenAnswer): Answers => {
  if (question === undefined || more.length > 0) {
    const keys = [question, ...more].map((open) => open?.key).join(", ");
    throw usageError(`the task asks several questions: choose one with --key (${keys})`);
  }
  return { [question.key]: answer };
};

const askHere = async (questions: readonly Question[]): Promise<Answers> => {
  if (!isInteractive()) {
    const keys = questions.map(({ key }) => key).join(", ");
    throw usageError(`this is no terminal to ask on: give --input JSON or --action (open: ${keys})`);
  }
  const { signal, interrupt, dispose } = interruption();
  try {
    return await askQuestions(questions, { input: process.stdin, output: process.stderr }, signal, interrupt);
  } catch (error) {
    if (signal.aborted) throw new CliError("Interrupted; nothing was answered.", exitCodes.interrupted);
    throw error;
  } finally {
    dispose();
  }
};

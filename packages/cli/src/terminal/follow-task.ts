import { unlessAborted } from "@taskbridge/core/adapter";
import { CliError, exitCodes } from "../cli-error.ts";
import { isOver, type TaskResult, type TaskSource, type TaskStatus } from "../task-source.ts";
import { askQuestions } from "./ask-questions.ts";
import {
  formatDocument,
  formatFailure,
  formatMessage,
  formatQuestion,
  formatResult,
  taskDocument,
} from "./format-task.ts";
import type { Interruption } from "./interruption.ts";
import { safeText } from "./safe-text.ts";
import { shellWord } from "./shell-word.ts";
import { taskCommand } from "./task-command.ts";
import { taskDisplay } from "./task-display.ts";
import { formatWithheld } from "./withheld-question.ts";

export interface FollowOptions {
  /** Ask a person on the terminal what the task asks; otherwise only say what is asked. */
  readonly ask: boolean;
  readonly json: boolean;
}

/**
 * Shows a task until it has ended, asks what it asks, and prints its result on stdout. Resolves with the exit code. When
 * interrupted, the task goes on.
 */
export const followTask = async (
  source: TaskSource,
  first: TaskStatus,
  { ask, json }: FollowOptions,
  interruption: Interruption,
): Promise<number> => {
  const { signal } = interruption;
  const display = taskDisplay();
  const asked = new Set<string>();
  let isWithheld = false;
  let task = first;
  try {
    while (!isOver(task)) {
      display.show(task);
      const isNew = task.questions.some(({ key }) => !asked.has(key));
      if (isNew) {
        display.pause();
        await (ask ? askAndAnswer(source, task, asked, interruption) : reportQuestions(source, task, asked));
      }
      const withheld = source.answeredBy === "follower" ? formatWithheld(task, ask) : undefined;
      if (withheld !== undefined && !isWithheld) {
        display.pause();
        process.stderr.write(`${withheld}\n`);
      }
      isWithheld = withheld !== undefined;
      task = await unlessAborted(signal, source.nextStatus(task, signal));
    }
    display.pause();
    const result = task.state === "succeeded" ? await unlessAborted(signal, source.readResult(task)) : undefined;
    return printEnd(task, result, json);
  } catch (error) {
    display.pause();
    if (!signal.aborted) throw withResumeHint(error, source, task);
    const summary = isOver(task) ? "The task has ended, and can be read:" : "The task goes on:";
    process.stderr.write(`Interrupted. ${summary}\n  ${taskCommand("watch", task.taskId, source.flags)}\n`);
    if (json) printDocument(task);
    return exitCodes.interrupted;
  }
};

const withResumeHint = (error: unknown, { flags }: TaskSource, task: TaskStatus): unknown => {
  if (!(error instanceof CliError)) return error;
  const { message, exitCode, details } = error;
  const { taskId } = task;
  const may = isOver(task) ? "Its result may still be there:" : "The task may go on:";
  return new CliError(message, exitCode, {
    ...details,
    taskId,
    hint: `${may}\n  ${taskCommand("watch", taskId, flags)}`,
  });
};

const askAndAnswer = async (
  source: TaskSource,
  { taskId, questions }: TaskStatus,
  asked: Set<string>,
  { signal, interrupt }: Interruption,
): Promise<void> => {
  for (const question of questions.filter(({ key }) => !asked.has(key))) {
    const terminal = { input: process.stdin, output: process.stderr };
    const answers = await askQuestions([question], terminal, signal, interrupt);
    try {
      const ignored = await unlessAborted(signal, source.answerTask(taskId, answers));
      if (ignored.length > 0) process.stderr.write("  This question is not open any more.\n");
      asked.add(question.key);
    } catch (error) {
      // What does not fit the schema is refused and the question stays open: ask again.
      if (!(error instanceof Error) || signal.aborted) throw error;
      process.stderr.write(`  ${safeText(error.message)}\n`);
    }
  }
};

const reportQuestions = async (source: TaskSource, task: TaskStatus, asked: Set<string>): Promise<void> => {
  for (const question of task.questions.filter(({ key }) => !asked.has(key))) {
    process.stderr.write(`${formatQuestion(question, task, source.flags)}\n`);
    asked.add(question.key);
  }
};

/** The result of a task that has ended, on stdout; why there is none, on stderr. Returns the exit code. */
const printEnd = (task: TaskStatus, result: TaskResult | undefined, json: boolean): number => {
  if (json) printDocument(task, result);
  else if (result !== undefined) printResult(result);
  else process.stderr.write(`${task.state}: ${formatFailure(task) ?? formatMessage(task) ?? shellWord(task.taskId)}\n`);
  return task.state === "succeeded" ? exitCodes.completed : exitCodes.failed;
};

export const printDocument = (task: TaskStatus, result?: TaskResult): void =>
  printText(formatDocument(taskDocument(task, result)));

/** To a file or another program, it goes byte for byte. */
export const printResult = (result: TaskResult): void => {
  const text = formatResult(result);
  printText(process.stdout.isTTY === true ? safeText(text) : text);
};

export const printText = (text: string): void => {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
};

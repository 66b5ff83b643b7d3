import type { GivenAnswer } from "@taskbridge/core";
import { CliError, exitCodes, usageError } from "../cli-error.ts";
import type { Answers, Question, TaskSource, TaskStatus } from "../task-source.ts";
import { askQuestions } from "../terminal/ask-questions.ts";
import { printDocument, printText } from "../terminal/follow-task.ts";
import { formatMessage, formatUntold } from "../terminal/format-task.ts";
import { interruption } from "../terminal/interruption.ts";
import { isInteractive } from "../terminal/is-interactive.ts";
import { parseJsonFlag } from "../terminal/parse-json-flag.ts";
import { questionFields } from "../terminal/question-fields.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { taskCommand } from "../terminal/task-command.ts";
import { type TasksFlags, withSource } from "./tasks.ts";
import { waitBriefly } from "./wait-briefly.ts";

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
    const chosen = chooseQuestions(questions, flags.key);
    if (chosen.length === 0) throw nothingToAnswer(questions, flags.key);
    const isGiven = content !== undefined || flags.action !== undefined;
    const answers = isGiven
      ? givenAnswer(chosen, { action: flags.action ?? "accept", ...(content === undefined ? {} : { content }) })
      : await askHere(chosen);
    const ignored = await source.answerTask(taskId, answers);
    if (ignored.length > 0) throw new CliError(`not open any more: ${namesOf(ignored)}`);
    const isAsked = ({ pending = [] }: TaskStatus): boolean =>
      pending.every(
        ({ questionKey = "", lastError }) => !Object.hasOwn(answers, questionKey) || lastError !== undefined,
      );
    const task = await waitBriefly(source, await source.readTask(taskId), isAsked);
    if (flags.json) printDocument(task);
    else printText(formatOutcome(questions, answers, task));
    return exitCodes.completed;
  });
};

/** By its key, or by the backend's own name for it where that names one. */
const chooseQuestions = (questions: readonly Question[], wanted: string | undefined): readonly Question[] => {
  if (wanted === undefined) return questions;
  const byKey = questions.filter(({ key }) => key === wanted);
  if (byKey.length > 0) return byKey;
  const named = questions.filter(({ questionId }) => questionId === wanted);
  return named.length === 1 ? named : [];
};

/** What became of the answers, a line each, as far as the source can tell. */
const formatOutcome = (before: readonly Question[], answers: Answers, task: TaskStatus): string => {
  const lines = before
    .filter(({ key }) => answers[key] !== undefined)
    .map((question) => formatFate(question, before, answers[question.key]?.action, task));
  const unseen = task.missingSince === undefined ? undefined : formatMessage(task);
  return [...lines, ...(unseen === undefined ? [] : [unseen])].join("\n");
};

const formatFate = (
  question: Question,
  before: readonly Question[],
  action: GivenAnswer["action"] | undefined,
  { questions, pending = [] }: TaskStatus,
): string => {
  const { key, questionId, message } = question;
  const untold = pending.find(({ questionKey }) => questionKey === key);
  if (untold !== undefined) return formatUntold(`the answer to ${safeLine(key)}`, untold);
  if (action !== "cancel") return `answered ${safeLine(key)}`;
  const known = new Set(before.map((asked) => asked.key));
  const again = questions.find(
    (asked) => !known.has(asked.key) && asked.questionId === questionId && asked.message === message,
  );
  if (again === undefined) return `dismissed ${safeLine(key)}`;
  const left = again.reasksLeft === undefined ? "" : ` (${again.reasksLeft} left)`;
  return `dismissed ${safeLine(key)}; asked again as ${safeLine(again.key)}${left}`;
};

const notByCommand = (taskId: string, { flags, wire }: TaskSource): CliError =>
  usageError(
    `tasks answer: ${wire === "sep-1686" ? "the SEP-1686 draft" : `MCP ${wire}`} has no request that answers a question: the server asks whoever follows the task.\nOn a terminal, this is asked:\n  ${taskCommand("watch", taskId, flags)}`,
  );

const nothingToAnswer = (questions: readonly Question[], key: string | undefined): CliError =>
  key === undefined || questions.length === 0
    ? new CliError("the task asks nothing")
    : new CliError(`there is no open question "${key}"; open: ${keysOf(questions)}`);

const namesOf = (names: readonly string[]): string => names.map(safeLine).join(", ");

const keysOf = (questions: readonly Question[]): string => namesOf(questions.map(({ key }) => key));

const givenAnswer = (questions: readonly Question[], answer: GivenAnswer): Answers => {
  const [question, ...more] = questions;
  if (question === undefined || more.length > 0) {
    throw usageError(`the task asks several questions: choose one with --key (${keysOf(questions)})`);
  }
  if (answer.action === "accept" && answer.content === undefined) requireNoFields(question);
  return { [question.key]: answer };
};

const requireNoFields = ({ key, schema }: Question): void => {
  const names = questionFields(schema).map(({ name }) => name);
  if (names.length === 0) return;
  throw usageError(`${safeLine(key)} asks for ${namesOf(names)}: give --input JSON instead of --action accept`);
};

const askHere = async (questions: readonly Question[]): Promise<Answers> => {
  if (!isInteractive()) {
    throw usageError(`this is no terminal to ask on: give --input JSON or --action (open: ${keysOf(questions)})`);
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

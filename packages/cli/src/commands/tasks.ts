import { unlessAborted } from "@taskbridge/core/adapter";
import { CliError, exitCodes, interruptedError } from "../cli-error.ts";
import { closeAfter } from "../close-after.ts";
import { openSource, type SourceFlags, type SourceUse } from "../open-source.ts";
import { isOver, type TaskSource, type TaskStatus } from "../task-source.ts";
import { followTask, printDocument, printText } from "../terminal/follow-task.ts";
import {
  formatDocument,
  formatInstant,
  formatStatus,
  formatTask,
  formatUntold,
  stateWords,
  taskDocument,
} from "../terminal/format-task.ts";
import { interruption } from "../terminal/interruption.ts";
import { isInteractive } from "../terminal/is-interactive.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { shellWord } from "../terminal/shell-word.ts";
import { taskCommand } from "../terminal/task-command.ts";
import { formatWithheld } from "../terminal/withheld-question.ts";
import { waitBriefly } from "./wait-briefly.ts";

export interface TasksFlags extends SourceFlags {
  readonly json?: boolean;
}

/** Larger results are not shown by `show`: `watch` prints them whole. */
const shownResultBytes = 65_536;

/** Opens the source, acts, and waits until what was begun is done. Where the use has no signal, Ctrl-C ends the command. */
export const withSource = async (
  flags: SourceFlags,
  action: (source: TaskSource) => Promise<number>,
  use: SourceUse = {},
): Promise<number> => {
  if (use.signal !== undefined) return actOn(await openSource(flags, use), action);
  const { signal, dispose } = interruption();
  try {
    const source = await openSource(flags, { ...use, signal });
    return await actOn(source, (open) => unlessInterrupted(signal, action(open)));
  } finally {
    dispose();
  }
};

const actOn = (source: TaskSource, action: (source: TaskSource) => Promise<number>): Promise<number> =>
  closeAfter(() => action(source), source.close);

const unlessInterrupted = async (signal: AbortSignal, work: Promise<number>): Promise<number> => {
  try {
    return await unlessAborted(signal, work);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw interruptedError("Interrupted: what was asked for may be done all the same.");
  }
};

export const listTasks = (flags: TasksFlags): Promise<number> =>
  withSource(flags, async (source) => {
    const tasks: TaskStatus[] = [];
    for await (const task of source.listTasks()) tasks.push(task);
    if (flags.json) printText(formatDocument({ tasks: tasks.map((task) => taskDocument(task)) }));
    else if (tasks.length === 0) process.stderr.write("There are no tasks.\n");
    else printText(formatTable(tasks));
    return exitCodes.completed;
  });

const formatTable = (tasks: readonly TaskStatus[]): string => {
  const rows = [["TASK", "TOOL", "STATE", "CREATED", "PROGRESS"], ...tasks.map(toRow)];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
};

const toRow = (task: TaskStatus): string[] => [
  shellWord(task.taskId),
  safeLine(task.tool ?? ""),
  stateWords[task.state],
  formatInstant(task.createdAt)?.slice(0, 19) ?? "",
  beginning(
    task.failure === undefined
      ? ((isOver(task) ? undefined : formatStatus(task)) ?? "")
      : safeLine(task.failure.reason.split("\n", 1)[0] ?? ""),
  ),
];

const beginning = (text: string): string => Array.from(text).slice(0, 80).join("");

export const showTask = (taskId: string, flags: TasksFlags): Promise<number> =>
  withSource(flags, async (source) => {
    const task = await source.readTask(taskId);
    const isShown = task.state === "succeeded" && (task.resultBytes ?? 0) <= shownResultBytes;
    const result = isShown ? await source.readResult(task) : undefined;
    if (flags.json) printDocument(task, result);
    else printText(formatTask(task, source.flags, result ?? resultHint(task, source)));
    const withheld = source.answeredBy === "follower" && !isOver(task) ? formatWithheld(task, false) : undefined;
    if (withheld !== undefined) process.stderr.write(`${withheld}\n`);
    return exitCodes.completed;
  });

const resultHint = ({ taskId, state, resultBytes }: TaskStatus, { flags }: TaskSource): { text: string } | undefined =>
  state === "succeeded" ? { text: `${resultBytes} bytes: ${taskCommand("watch", taskId, flags)}` } : undefined;

export const watchTask = async (taskId: string, flags: TasksFlags): Promise<number> => {
  const interrupted = interruption();
  try {
    const asks = isInteractive();
    const watch = async (source: TaskSource): Promise<number> => {
      const task = await readFirst(source, taskId, interrupted.signal);
      // Elsewhere `tasks answer` does it, and whoever watches may not be the one to ask.
      const ask = asks && source.answeredBy === "follower";
      return followTask(source, task, { ask, json: flags.json ?? false }, interrupted);
    };
    return await withSource(flags, watch, { asks, signal: interrupted.signal });
  } finally {
    interrupted.dispose();
  }
};

const readFirst = async (source: TaskSource, taskId: string, signal: AbortSignal): Promise<TaskStatus> => {
  try {
    return await unlessAborted(signal, source.readTask(taskId));
  } catch (error) {
    if (!signal.aborted) throw error;
    const hint = `  ${taskCommand("watch", taskId, source.flags)}`;
    throw interruptedError("Interrupted before it was known how the task stands. It is as it was:", { taskId, hint });
  }
};

/** The draft cancels by the request of whoever made the call; another process can only delete. */
const deletedNote =
  "On SEP-1686 only the session that made the call can cancel it, so the task was deleted: its execution is stopped, and nothing of it can be read any more.\n";

const undeliveredCancel = ({ pending = [] }: TaskStatus): string | undefined => {
  const call = pending.find(({ kind, lastError }) => kind === "cancel" && lastError !== undefined);
  return call && formatUntold("to be stopped", call);
};

export const cancelTask = (taskId: string, flags: TasksFlags): Promise<number> =>
  withSource(flags, async (source) => {
    const before = await source.readTask(taskId);
    if (isOver(before)) throw new CliError(`the task has ended already: ${stateWords[before.state]}`);
    const isShown = (task: TaskStatus): boolean => isOver(task) || undeliveredCancel(task) !== undefined;
    const task = await waitBriefly(source, await source.cancelTask(taskId), isShown);
    if (source.wire === "sep-1686") process.stderr.write(deletedNote);
    if (flags.json) printDocument(task);
    else printText(isOver(task) ? stateWords[task.state] : (undeliveredCancel(task) ?? "asked to stop"));
    return exitCodes.completed;
  });

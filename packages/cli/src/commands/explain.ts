import type { TaskExplanation } from "@taskbridge/core";
import { exitCodes } from "../cli-error.ts";
import { closeAfter } from "../close-after.ts";
import { chooseConfig } from "../config/choose-config.ts";
import { openConfig } from "../config/open-config.ts";
import { openEngine } from "../config/open-engine.ts";
import { hideSecretsIn } from "../hide-secrets.ts";
import { printText } from "../terminal/follow-task.ts";
import { formatCount, formatDocument, formatInstant } from "../terminal/format-task.ts";
import { safeText } from "../terminal/safe-text.ts";

/** Everything that is known of a task, for an operator. */
export const explainTask = async (taskId: string, flags: { config?: string; json?: boolean }): Promise<number> => {
  const { engine, close } = await openEngine(openConfig(chooseConfig(flags.config)));
  return closeAfter(async () => {
    const explanation = await engine.explainTask(taskId);
    printText(flags.json ? formatDocument(hideSecretsIn(explanation)) : safeText(formatExplanation(explanation)));
    return exitCodes.completed;
  }, close);
};

const formatExplanation = ({ record, pollIntervalMs, lastInspectError, lastInspectedAt }: TaskExplanation): string => {
  const rows: [string, string | undefined][] = [
    ["task", `${record.taskId}, revision ${record.revision}, ${record.state}`],
    ["owner", record.owner ?? "none: the ID alone grants access"],
    ["tool", record.tool],
    ["adapter", record.adapterId],
    ["target", JSON.stringify(record.target)],
    ["execution", record.ref ?? "not known yet"],
    ["start key", record.startKey],
    ["started", formatInstant(record.start.firstSentAt) ?? "nothing was sent"],
    ["backend", record.execution && JSON.stringify(record.execution)],
    ["cancel", record.cancel && `${record.cancel.reason}, asked ${formatInstant(record.cancel.requestedAt)}`],
    ["failure", record.failure && JSON.stringify(record.failure)],
    ["missing", record.missingSince === undefined ? undefined : `since ${formatInstant(record.missingSince)}`],
    ["slot", record.slotHeld ? "held" : "free"],
    ["wakes", record.wakeAt === null ? "never by itself" : formatInstant(record.wakeAt)],
    ["inspected", [formatInstant(lastInspectedAt), lastInspectError].filter(Boolean).join(": ")],
    ["poll", `${pollIntervalMs} ms`],
    ...record.questions.map((question): [string, string] => [
      "question",
      // What is not open any more may have been forgotten.
      [`${question.key}, ${question.state}`, question.message].filter(Boolean).join(": "),
    ]),
    ...record.effects.map((effect): [string, string] => [
      "to do",
      `${effect.kind}, tried ${formatCount(effect.attempts, "time")}, next ${formatInstant(effect.notBefore)}${effect.lastError === undefined ? "" : `: ${effect.lastError}`}`,
    ]),
  ];
  return rows
    .filter((row): row is [string, string] => row[1] !== undefined && row[1] !== "")
    .map(([name, text]) => `${name.padEnd(11)}${text.replaceAll("\n", `\n${" ".repeat(11)}`)}`)
    .join("\n");
};

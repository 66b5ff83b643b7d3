import type { ExecutionProgress, TaskRecord } from "@taskbridge/core";

/**
 * One line for a person about where a task stands, for wires that have a place for it. Undefined: nothing to say. `staleSince`: as
 * in a `TaskView`.
 */
export const toStatusMessage = (record: TaskRecord, staleSince?: number): string | undefined => {
  const parts = record.state === "failed" ? failureParts(record) : runningParts(record);
  const known = parts.filter((part, index) => part !== undefined && part !== "" && parts.indexOf(part) === index);
  const state = known.length === 0 ? [] : [known.join(": ")];
  const age =
    staleSince === undefined ? [] : [`as of ${new Date(staleSince).toISOString()}: the backend does not answer`];
  const message = [...state, ...age].join("; ");
  return message === "" ? undefined : message;
};

const failureParts = (record: TaskRecord): readonly (string | undefined)[] => [
  record.failure?.reason ?? record.message,
];

const runningParts = (record: TaskRecord): readonly (string | undefined)[] => {
  const ended = record.endedAt !== undefined;
  const progress = ended ? undefined : record.execution?.progress;
  return [
    ended ? undefined : toUnstarted(record),
    toProgressCount(progress),
    toOneLine(record.message ?? progress?.message),
    toOneLine(progress?.message),
  ];
};

/** Why a start that was tried has no answer: without the error, which may name hosts of the operator. */
const toUnstarted = ({ ref, effects, start }: TaskRecord): string | undefined => {
  const pending = effects.find((effect) => effect.kind === "start");
  if (ref !== undefined || pending?.lastError === undefined) return undefined;
  // A send that is under way is noted already, and says nothing of those before it.
  return start.firstSentAt === undefined || pending.nothingSent === true
    ? "not started yet: the backend does not take it at present"
    : "not known yet whether it was started: the backend does not tell at present";
};

/** What a job tells of itself stays inside the sentence that a model reads it in. */
const toOneLine = (text: string | undefined): string | undefined => text?.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();

/** `3 of 10`, or `3` where the total is unknown. */
const toProgressCount = (progress: ExecutionProgress | undefined): string | undefined => {
  if (progress?.done === undefined) return undefined;
  return progress.total === undefined ? `${progress.done}` : `${progress.done} of ${progress.total}`;
};

import { asTaskId, type TaskId, type TaskRecord } from "@taskbridge/core/store";
import { type Attempt, attemptLength } from "./attempt.ts";

/** What an index holds of a record: members of sorted sets with one score, which Redis keeps in the order of their bytes. */
export interface IndexEntry {
  readonly taskId: TaskId;
  readonly attempt: Attempt;
}

const timeLength = 16;

/** Texts that sort by their bytes as the numbers do: the bits of the IEEE 754 form, turned so that negative ones come first. */
export const toSortable = (value: number): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  const bits = bytes.readBigUInt64BE();
  const isNegative = bits >> 63n === 1n;
  const turned = isNegative ? ~bits & 0xffff_ffff_ffff_ffffn : bits | (1n << 63n);
  return turned.toString(16).padStart(timeLength, "0");
};

/** Before all entries of this record and after those of older ones, and of lesser IDs of the same instant. */
export const toPosition = ({ createdAt, taskId }: Pick<TaskRecord, "createdAt" | "taskId">): string =>
  `${toSortable(createdAt)}${taskId}\0`;

/** The attempt makes entries of one ID in different lives different, so that what is taken out is never another's. */
export const toEntry = (record: Pick<TaskRecord, "createdAt" | "taskId">, attempt: Attempt): string =>
  toPosition(record) + attempt;

export const parseEntry = (entry: string): IndexEntry => ({
  taskId: asTaskId(entry.slice(timeLength, -attemptLength - 1)),
  attempt: entry.slice(-attemptLength),
});

/** Orders entries as Redis does, newest first. */
export const newestFirst = (a: string, b: string): number => {
  const [timeOfA, timeOfB] = [a.slice(0, timeLength), b.slice(0, timeLength)];
  if (timeOfA !== timeOfB) return timeOfA < timeOfB ? 1 : -1;
  return Buffer.compare(Buffer.from(b), Buffer.from(a));
};

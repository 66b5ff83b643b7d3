import type { TaskRecord } from "../../contract/task-record.ts";

/** Longer than a removal takes (milliseconds). */
const removalMs = 10_000;

/** Whether nobody but its creator has taken up a record's start, nor will while it is being removed. */
export const isUntouched = ({ ref, effects }: TaskRecord, now: number): boolean =>
  ref === undefined &&
  effects.some(({ kind, attempts, notBefore }) => kind === "start" && attempts === 1 && now + removalMs < notBefore);

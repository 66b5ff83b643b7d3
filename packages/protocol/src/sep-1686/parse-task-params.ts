import { invalidInput } from "../invalid-input.ts";
import { isObject } from "../is-object.ts";
import { minRetentionMs } from "../min-retention.ts";
import { tellValue } from "../tell-value.ts";
import { hasTaskMark, taskKey } from "./draft-mark.ts";

export interface TaskParams {
  /** As its sender has chosen it. */
  readonly taskId: string;
  /** How long the caller wants the result kept after the end, in milliseconds. Absent: it has no wish. */
  readonly retentionMs?: number;
}

const path = `_meta["${taskKey}"]`;

/** It goes into addresses, logs and keys of stores as it is. */
const idShape = /^[A-Za-z0-9_.:-]{1,128}$/;

/**
 * The mark by which a request asks to become a task; undefined: there is none. `keepAlive` is rounded up to whole
 * milliseconds and raised to `minRetentionMs`, as receivers may; the engine caps it. Throws `invalid_input` with
 * `data.path` for a mark that is none, and for a request that also has the `task` of 2025-11-25.
 * https://modelcontextprotocol.io/seps/1686-tasks#task-metadata
 */
export const parseTaskParams = (params: Readonly<Record<string, unknown>> | undefined): TaskParams | undefined => {
  if (params === undefined || !hasTaskMark(params)) return undefined;
  if (params.task !== undefined) {
    throw invalidInput("task", `a request is for one generation of tasks, but this one also has ${path}`);
  }
  const mark = (params._meta as Readonly<Record<string, unknown>>)[taskKey];
  if (!isObject(mark)) throw invalidInput(path, `an object is needed, got ${tellValue(mark)}`);
  const { taskId, keepAlive } = mark;
  if (typeof taskId !== "string") throw invalidInput(`${path}.taskId`, `text is needed, got ${tellValue(taskId)}`);
  if (!idShape.test(taskId)) {
    const needed = "1 to 128 of the characters A-Z a-z 0-9 _ . : - are needed";
    throw invalidInput(`${path}.taskId`, `${needed}, got ${tellValue(taskId)}`);
  }
  if (keepAlive === undefined) return { taskId };
  if (typeof keepAlive !== "number" || !Number.isFinite(keepAlive) || keepAlive < 0) {
    const needed = "a number of milliseconds of at least 0 is needed";
    throw invalidInput(`${path}.keepAlive`, `${needed}, got ${tellValue(keepAlive)}`);
  }
  return { taskId, retentionMs: Math.max(minRetentionMs, Math.ceil(keepAlive)) };
};

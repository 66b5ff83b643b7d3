import { isObject } from "@taskbridge/core";
import { describeValue } from "../describe-value.ts";
import { invalidInput } from "../invalid-input.ts";
import { minRetentionMs } from "../min-retention.ts";
import { hasTaskMark, taskKey } from "./sep1686-mark.ts";

export interface TaskParams {
  /** As its sender has chosen it; which text can be an ID is the engine's to say. */
  readonly taskId: string;
  /** How long the caller wants the result kept after the end, in milliseconds. Absent: it has no wish. */
  readonly retentionMs?: number;
}

/** Where the mark stands in the params of a request. */
export const taskMarkPath: string = `_meta["${taskKey}"]`;

/**
 * The mark by which a request asks to become a task; undefined: there is none. `keepAlive` is rounded up to whole
 * milliseconds and raised to `minRetentionMs`, as receivers may; the engine caps it. Throws `invalid_input` with
 * `data.path` for a mark that is none, and for a request that also has the `task` of 2025-11-25.
 * https://modelcontextprotocol.io/seps/1686-tasks#task-metadata
 */
export const parseTaskParams = (params: Readonly<Record<string, unknown>> | undefined): TaskParams | undefined => {
  if (params === undefined || !hasTaskMark(params)) return undefined;
  if (params.task !== undefined) {
    throw invalidInput("task", `a request is for one generation of tasks, but this one also has ${taskMarkPath}`);
  }
  const mark = (params._meta as Readonly<Record<string, unknown>>)[taskKey];
  if (!isObject(mark)) throw invalidInput(taskMarkPath, `an object is needed, got ${describeValue(mark)}`);
  const { taskId, keepAlive } = mark;
  if (typeof taskId !== "string")
    throw invalidInput(`${taskMarkPath}.taskId`, `text is needed, got ${describeValue(taskId)}`);
  if (keepAlive === undefined) return { taskId };
  if (typeof keepAlive !== "number" || !Number.isFinite(keepAlive) || keepAlive < 0) {
    const needed = "a number of milliseconds of at least 0 is needed";
    throw invalidInput(`${taskMarkPath}.keepAlive`, `${needed}, got ${describeValue(keepAlive)}`);
  }
  return { taskId, retentionMs: Math.max(minRetentionMs, Math.ceil(keepAlive)) };
};

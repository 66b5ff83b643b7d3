import { isObject } from "@taskbridge/core";
import { describeValue } from "../describe-value.ts";
import { invalidInput } from "../invalid-input.ts";
import { minRetentionMs } from "../min-retention.ts";

/** By this a request of the SEP-1686 draft asks for a task. */
const sep1686Key = "modelcontextprotocol.io/task";

export interface TaskParams {
  /** How long the caller wants the result kept after the end, in milliseconds. Absent: it has no wish. */
  readonly retentionMs?: number;
}

/**
 * The `task` by which a request asks to become one; undefined: it does not. `ttl` is rounded up to whole milliseconds and
 * raised to `minRetentionMs`, as receivers may; the engine caps it. Throws `invalid_input` with `data.path` for a `task`
 * or a `ttl` that is none, and for a request that also carries the mark of the SEP-1686 draft.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-parameters
 */
export const parseTaskParams = (params: Readonly<Record<string, unknown>> | undefined): TaskParams | undefined => {
  if (params?.task === undefined) return undefined;
  const { task, _meta: meta } = params;
  if (isObject(meta) && meta[sep1686Key] !== undefined) {
    throw invalidInput(
      "task",
      `a request is for one generation of tasks, but this one also has _meta["${sep1686Key}"]`,
    );
  }
  if (!isObject(task)) throw invalidInput("task", `an object is needed, got ${describeValue(task)}`);
  const { ttl } = task;
  if (ttl === undefined || ttl === null) return {};
  if (typeof ttl !== "number" || !Number.isFinite(ttl) || ttl < 0) {
    throw invalidInput("task.ttl", `a number of milliseconds of at least 0 is needed, got ${describeValue(ttl)}`);
  }
  return { retentionMs: Math.max(minRetentionMs, Math.ceil(ttl)) };
};

import { isObject, type TaskRecord } from "@taskbridge/core";
import { toStatusMessage } from "../status-message.ts";

export const progressMethod = "notifications/progress";

export interface ProgressParams {
  readonly progressToken: string | number;
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Small enough to leave a real count alone, should one come later. */
const step = 0.001;

/**
 * The next progress of a call. Progress must rise with each one, so one that has nothing new to tell
 * rises by next to nothing. https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
 */
export const toProgress = (record: TaskRecord, progressToken: string | number, last: number): ProgressParams => {
  const { done, total } = record.execution?.progress ?? {};
  const rounded = Math.round((last + step) * 1000) / 1000;
  const message = toStatusMessage(record);
  return {
    progressToken,
    progress: done !== undefined && done > last ? done : rounded,
    ...(total === undefined ? {} : { total }),
    message: message ?? "running",
  };
};

/** The progress token of a request, by its `_meta`. What is none asks for nothing. */
export const readProgressToken = (meta: unknown): string | number | undefined => {
  const token = isObject(meta) ? meta.progressToken : undefined;
  return typeof token === "string" || (typeof token === "number" && Number.isInteger(token)) ? token : undefined;
};

import type { TaskRecord } from "@taskbridge/core";
import { toStatusMessage } from "../status-message.ts";

export interface ProgressParams {
  readonly progressToken: string | number;
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Small enough to leave a real count alone, should one come later. */
const step = 0.001;

/**
 * The next `notifications/progress` of a call. Progress must rise with each one, so one that has nothing new to tell
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

/** A progress token as the protocol allows it; anything else asks for nothing. */
export const readProgressToken = (value: unknown): string | number | undefined =>
  typeof value === "string" || (typeof value === "number" && Number.isInteger(value)) ? value : undefined;

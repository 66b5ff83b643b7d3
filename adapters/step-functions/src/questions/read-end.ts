import type { ExecutionSnapshot } from "@taskbridge/core/adapter";
import type { SfnClient } from "../aws/client.ts";
import { toSnapshot } from "../mapping/to-snapshot.ts";

const ends: Readonly<Record<string, string>> = {
  ExecutionSucceeded: "SUCCEEDED",
  ExecutionFailed: "FAILED",
  ExecutionAborted: "ABORTED",
  ExecutionTimedOut: "TIMED_OUT",
};

/** An ended execution by the last event of its history; undefined when that is not its end. `startedAt`: epoch milliseconds. */
export const readEnd = async (
  client: SfnClient,
  arn: string,
  startedAt: number | undefined,
  signal: AbortSignal,
): Promise<ExecutionSnapshot | undefined> => {
  const { rows } = await client.history(arn, { size: 1 }, signal);
  const [last] = rows;
  const status = last === undefined ? undefined : ends[last.type];
  if (last === undefined || status === undefined) return undefined;
  const { at: endedAt, output, error, cause } = last;
  return toSnapshot({ arn, status, startedAt: startedAt ?? 0, endedAt, output, error, cause });
};

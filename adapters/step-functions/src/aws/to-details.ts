import type { ExecutionDetails } from "./client.ts";

interface Described {
  readonly executionArn: string | undefined;
  readonly status: string | undefined;
  readonly startDate: Date | undefined;
  readonly stopDate?: Date | undefined;
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  readonly error?: string | undefined;
  readonly cause?: string | undefined;
  readonly redriveCount?: number | undefined;
}

/** An execution as AWS' client describes it. */
export const toDetails = (described: Described): ExecutionDetails => {
  const { input, output, error, cause, redriveCount } = described;
  return {
    arn: described.executionArn ?? "",
    status: described.status ?? "",
    startedAt: described.startDate?.getTime() ?? 0,
    endedAt: described.stopDate?.getTime(),
    ...{ input, output, error, cause, redriveCount },
  };
};

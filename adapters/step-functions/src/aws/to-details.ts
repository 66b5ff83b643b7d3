import type { ExecutionDetails } from "./client.ts";

/** What is read of a description by AWS' client. */
interface Described extends Pick<ExecutionDetails, "input" | "output" | "error" | "cause" | "redriveCount"> {
  readonly executionArn?: string | undefined;
  readonly status?: string | undefined;
  readonly startDate?: Date | undefined;
  readonly stopDate?: Date | undefined;
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

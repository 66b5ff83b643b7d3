import type { ExecutionDetails } from "./client.ts";
import type { DescribeExecutionOutput } from "./sfn-client.ts";

/** An execution as AWS' client describes it. */
export const toDetails = (described: Partial<DescribeExecutionOutput>): ExecutionDetails => {
  const { input, output, error, cause, redriveCount } = described;
  return {
    arn: described.executionArn ?? "",
    status: described.status ?? "",
    startedAt: described.startDate?.getTime() ?? 0,
    endedAt: described.stopDate?.getTime(),
    ...{ input, output, error, cause, redriveCount },
  };
};

import type { ExecutionRedriveStatus } from "@aws-sdk/client-sfn";
import type { ExecutionView } from "../execution.ts";
import type { Machine } from "../machine.ts";

const redrivableMs = 14 * 86_400_000;

/**
 * What Describe says about running it again, in its words.
 * https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeExecution.html
 */
export const toRedrive = (
  { status, stopAt }: ExecutionView,
  machine: Machine,
  now: number,
): { readonly redriveStatus: ExecutionRedriveStatus; readonly redriveStatusReason?: string } => {
  const no = (redriveStatusReason: string) => ({ redriveStatus: "NOT_REDRIVABLE" as const, redriveStatusReason });
  if (machine.status === "DELETING") return no("State machine is in DELETING status");
  if (status === "RUNNING" || status === "SUCCEEDED") return no(`Execution is ${status} and cannot be redriven`);
  if (now - (stopAt ?? now) >= redrivableMs) return no("Execution redrivable period exceeded");
  return { redriveStatus: "REDRIVABLE" };
};

import type { ExecutionRedriveStatus } from "@aws-sdk/client-sfn";
import type { ExecutionView } from "../execution.ts";

const redrivableMs = 14 * 86_400_000;

/** What Describe says about running it again. */
export const toRedrive = (
  { status, stopAt }: ExecutionView,
  now: number,
): { readonly redriveStatus: ExecutionRedriveStatus; readonly redriveStatusReason?: string } => {
  const no = (redriveStatusReason: string) => ({ redriveStatus: "NOT_REDRIVABLE" as const, redriveStatusReason });
  if (status === "RUNNING" || status === "SUCCEEDED") return no(`Execution is ${status} and cannot be redriven`);
  if (now - (stopAt ?? now) >= redrivableMs) return no("Execution has exceeded the redrivable period");
  return { redriveStatus: "REDRIVABLE" };
};

import { type ExecutionUpdate, isObject } from "@taskbridge/core/adapter";
import { type ExecutionLocation, parseExecutionArn, toRef } from "../mapping/execution-arn.ts";

/** As the engine makes start keys; an execution with another name is somebody else's. */
const ourName = /^mcp-[0-9a-f]{32}$/;

export interface ParsedEvent {
  readonly update: ExecutionUpdate;
  readonly location: ExecutionLocation;
  /** An event that says that it runs after it has run before. */
  readonly isRedrive: boolean;
}

/**
 * A message of the queue: EventBridge's event of an execution's status, or what a `.waitForTaskToken` state sends with `$$.Execution.Id`
 * as `execution`. `foreign`: about an execution that is not ours. `unreadable`: about none at all. The whole ARN counts, since a nested
 * execution may have the same name.
 */
export const parseEvent = (body: string): ParsedEvent | "foreign" | "unreadable" => {
  let event: unknown;
  try {
    event = JSON.parse(body);
  } catch {
    return "unreadable";
  }
  if (!isObject(event)) return "unreadable";
  const detail = event.source === "aws.states" && isObject(event.detail) ? event.detail : undefined;
  const arn = detail === undefined ? event.execution : detail.executionArn;
  if (detail !== undefined && typeof arn === "string" && !arn.includes(":execution:")) return "foreign";
  const location = typeof arn === "string" ? parseExecutionArn(arn) : undefined;
  if (location === undefined) return "unreadable";
  if (!ourName.test(location.name)) return "foreign";
  const named = { ref: toRef(location.arn) };
  const isRunning = detail?.status === "RUNNING";
  return {
    // That it has begun needs no look.
    update: isRunning ? { ...named, snapshot: { status: "running" } } : named,
    location,
    isRedrive: isRunning && typeof detail?.redriveCount === "number" && detail.redriveCount > 0,
  };
};

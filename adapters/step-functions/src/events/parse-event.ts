import type { ExecutionUpdate } from "@taskbridge/core/adapter";
import { isObject } from "../is-object.ts";
import { type ExecutionPlace, parseExecutionArn, toRef } from "../mapping/execution-arn.ts";

/** As the engine makes start keys; an execution with another name is somebody else's. */
const ourName = /^mcp-[0-9a-f]{32}$/;

export interface ParsedEvent {
  readonly update: ExecutionUpdate;
  readonly place: ExecutionPlace;
  /** An event that says that it runs after it has run before. */
  readonly isRedrive: boolean;
}

/**
 * What a message of the queue tells. `foreign`: about an execution that is not ours. `unreadable`: about none at all.
 * Two kinds are understood: EventBridge's events of an execution's status, and what a `.waitForTaskToken` state sends with
 * `$$.Execution.Id` as the member `execution`. Both are hints: what is so is looked at. They name an execution by its whole ARN and not by
 * its name alone, which a nested execution may share and which whoever writes to the queue can put into another ARN.
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
  const place = typeof arn === "string" ? parseExecutionArn(arn) : undefined;
  if (place === undefined) return "unreadable";
  if (!ourName.test(place.name)) return "foreign";
  const named = { ref: toRef(place.arn) };
  const isRunning = detail?.status === "RUNNING";
  return {
    // That it has begun needs no look.
    update: isRunning ? { ...named, snapshot: { status: "running" } } : named,
    place,
    isRedrive: isRunning && typeof detail?.redriveCount === "number" && detail.redriveCount > 0,
  };
};

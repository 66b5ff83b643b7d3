import { asStartKey, type ExecutionUpdate } from "@taskbridge/core/adapter";
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
 * Two kinds are understood: EventBridge's events of an execution's status, and what a `.waitForTaskToken` state sends when it has
 * `$$.Execution.Id` in its message. Both are hints: what is so is looked at.
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
  const arn = detail === undefined ? findArn(event) : detail.executionArn;
  if (detail !== undefined && typeof arn === "string" && !arn.includes(":execution:")) return "foreign";
  const place = typeof arn === "string" ? parseExecutionArn(arn) : undefined;
  if (place === undefined) return "unreadable";
  if (!ourName.test(place.name)) return "foreign";
  const named = { key: asStartKey(place.name), ref: toRef(place.arn) };
  const isRunning = detail?.status === "RUNNING";
  return {
    // That it has begun needs no look.
    update: isRunning ? { ...named, snapshot: { status: "running" } } : named,
    place,
    isRedrive: isRunning && typeof detail?.redriveCount === "number" && detail.redriveCount > 0,
  };
};

/** The first text in a message that is an execution's ARN. */
const findArn = (value: unknown, depth = 0): string | undefined => {
  if (typeof value === "string") return parseExecutionArn(value) === undefined ? undefined : value;
  if (typeof value !== "object" || value === null || depth > 8) return undefined;
  for (const item of Object.values(value)) {
    const found = findArn(item, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
};

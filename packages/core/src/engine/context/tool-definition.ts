import type { AdapterId } from "../../contract/identity.ts";
import type { JsonObject, JsonValue } from "../../contract/json-value.ts";
import type { FrozenPolicy } from "../../contract/task-record.ts";

/** How a tool behaves as a task. Durations in milliseconds. */
export interface TaskPolicy extends FrozenPolicy {
  /** `required`: callers that know no tasks are refused. `forbidden`: nobody is ever given a task. Default `optional`. */
  readonly support: "optional" | "required" | "forbidden";
  /** Wait at most this long for the backend's start before handing out the task. Default 2,000. */
  readonly ackMs: number;
  /** Give a start up after this long. Default 300,000. */
  readonly startDeadlineMs: number;
  /**
   * How long a run is expected to take, so that it is polled more often as its end comes near. Default null: the median of the last 20
   * runs that this process saw succeed.
   */
  readonly expectedMs: number | null;
  /** What a model is told at once, on wires that have a place for it; may hold `{{input.x}}`, as the target may. */
  readonly immediateResponse?: string;
  /** Calls with the same arguments within this time are one task. Default 0: never. */
  readonly dedupeWindowMs: number;
  /** The most tasks of this tool that run at once, over all owners. Default null: no limit. */
  readonly maxConcurrent: number | null;
}

/** What is used for each member that a tool leaves out. */
export const defaultTaskPolicy: TaskPolicy = {
  support: "optional",
  retentionMs: 86_400_000,
  maxRunMs: null,
  questionTimeoutMs: null,
  pollIntervalMs: 2_000,
  ackMs: 2_000,
  startDeadlineMs: 300_000,
  expectedMs: null,
  onUnknownStart: "fail",
  dedupeWindowMs: 0,
  maxConcurrent: null,
};

/** A question that a tool asks before anything starts. */
export interface PrepareQuestion {
  readonly message: string;
  /** JSON Schema of the content that an accepting answer carries. Absent: accepting is all there is to say. */
  readonly schema?: JsonObject;
}

/** What a person said to a question. `decline`: refused; `cancel`: dismissed without saying. */
export interface GivenAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: JsonValue;
}

export type PrepareOutcome =
  /** Ask these, by name, and call again with the answers. Names already answered are not asked again. */
  | { readonly questions: Readonly<Record<string, PrepareQuestion>> }
  /** Start with this input. */
  | { readonly input: JsonObject }
  /** Do not start; the caller is told why. */
  | { readonly refused: string };

/**
 * Decides before a task exists what more must be known. Called anew with each round, with all answers so far, possibly
 * by another process: it must depend on nothing but its arguments.
 */
export type Prepare = (
  input: JsonObject,
  answers: Readonly<Record<string, GivenAnswer>>,
) => PrepareOutcome | Promise<PrepareOutcome>;

/** A pipeline as a tool. */
export interface ToolDefinition {
  /** 1 to 128 of `A-Z a-z 0-9 _ . -`, unique in the server. */
  readonly name: string;
  /** What a person reads in a list of tools. */
  readonly title?: string;
  /** What a model reads to decide whether and how to call it. */
  readonly description?: string;
  /** MCP tool annotations, handed through. */
  readonly annotations?: JsonObject;
  /** The name that the adapter has in `TaskEngineOptions.adapters`. */
  readonly adapter: AdapterId | string;
  /** What to run, in the adapter's own terms; strings may hold `{{input.x}}`. */
  readonly target: JsonValue;
  /** JSON Schema of the arguments. Default: any object. */
  readonly input?: JsonObject;
  /** JSON Schema of the result, which then is structured content. */
  readonly output?: JsonObject;
  /** Default: `defaultTaskPolicy`, also for each member that is left out. */
  readonly task?: Partial<TaskPolicy>;
  /** Questions to ask before anything starts. */
  readonly prepare?: Prepare;
}

/** A tool with every default filled in. */
export interface ResolvedTool extends ToolDefinition {
  readonly adapter: AdapterId;
  readonly input: JsonObject;
  readonly task: TaskPolicy;
}

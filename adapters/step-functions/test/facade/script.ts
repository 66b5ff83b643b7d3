import type { JsonObject, JsonValue } from "@taskbridge/core/adapter";

/** What an execution does. The façade interprets no ASL: the test says what happens and when. */
export interface Script {
  readonly steps: readonly Step[];
  /** Default: succeeds with `{}`. */
  readonly end?: ScriptEnd;
  /** `TimeoutSeconds` of the definition, in milliseconds: the execution then ends as TIMED_OUT. */
  readonly timeoutMs?: number;
}

export type ScriptEnd =
  /** A function sees what each state has put out, by its name; what was refused and caught is `{ Error, Cause }`. */
  | { readonly succeed: JsonValue | ((outputs: Readonly<Record<string, JsonValue>>) => JsonValue) }
  | { readonly fail: { readonly error?: string; readonly cause?: string } };

export type Step = StateStep | AskStep | ParallelStep | MapStep | MapRunStep;

/** A state that takes its time. */
export interface StateStep {
  readonly kind: "state";
  readonly name: string;
  readonly type: "Choice" | "Pass" | "Task" | "Wait";
  /** Infinity: until something else ends it. */
  readonly forMs: number;
  readonly output?: JsonValue;
}

/** A task that waits until its token is sent back. */
export interface AskStep {
  readonly kind: "ask";
  readonly name: string;
  /** As they are once the paths are filled in. A test that forgets the token can see what comes of that. */
  readonly parameters: (token: string, executionArn: string) => JsonObject;
  /** Service and action: `sqs`, `sendMessage`. */
  readonly service: string;
  readonly action: string;
  readonly timeoutMs?: number;
  readonly heartbeatMs?: number;
  /** A `Catch` goes on with the next step. */
  readonly isCaught?: boolean;
}

/** All branches at once. */
export interface ParallelStep {
  readonly kind: "parallel";
  readonly name: string;
  readonly branches: readonly (readonly Step[])[];
}

/** An inline Map: all items at once. */
export interface MapStep {
  readonly kind: "map";
  readonly name: string;
  readonly items: number;
  readonly each: (index: number) => readonly Step[];
}

/** A distributed Map, one item after the other. Its executions are not modelled, only counted. */
export interface MapRunStep {
  readonly kind: "mapRun";
  readonly name: string;
  readonly items: number;
  readonly itemMs: number;
}

export const state = (name: string, forMs: number, more: Partial<StateStep> = {}): StateStep => ({
  kind: "state",
  name,
  type: "Task",
  forMs,
  ...more,
});

export const queueUrl = "https://sqs.eu-west-1.amazonaws.com/123456789012/questions";

/** A message in a queue, with the token, the execution and what else the author of the machine put there. */
export const ask = (name: string, message: JsonObject = {}, more: Partial<AskStep> = {}): AskStep => ({
  kind: "ask",
  name,
  service: "sqs",
  action: "sendMessage",
  parameters: (token, execution) => ({ QueueUrl: queueUrl, MessageBody: { token, execution, ...message } }),
  ...more,
});

export const parallel = (name: string, ...branches: readonly (readonly Step[])[]): ParallelStep => ({
  kind: "parallel",
  name,
  branches,
});

export const map = (name: string, items: number, each: (index: number) => readonly Step[]): MapStep => ({
  kind: "map",
  name,
  items,
  each,
});

export const mapRun = (name: string, items: number, itemMs: number): MapRunStep => ({
  kind: "mapRun",
  name,
  items,
  itemMs,
});

/** One state without an end, for an execution that a test ends by hand. */
export const runsOn: Script = { steps: [state("Work", Number.POSITIVE_INFINITY)] };

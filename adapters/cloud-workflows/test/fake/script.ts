import type { JsonValue } from "@taskbridge/core/adapter";

/** What an execution does. The fake reads no YAML: the test says what happens and when. */
export interface Script {
  readonly steps: readonly Step[];
  /** Default: succeeds with `null`, as a workflow without `return` does. */
  readonly end?: ScriptEnd;
}

/** What each step has put out, by its name. What was raised and caught is the error's payload. */
export type Outputs = Readonly<Record<string, JsonValue>>;

export type ScriptEnd =
  | { readonly succeed: JsonValue | ((outputs: Outputs) => JsonValue) }
  /** `result`, letter for letter, whether or not it is JSON. */
  | { readonly resultText: string }
  /** Fails with this payload, at the last step. */
  | { readonly raise: JsonValue };

export type Step = PlainStep | AwaitStep | ParallelStep | LoopStep | CallStep;

/** A step that takes its time. */
export interface PlainStep {
  readonly kind: "step";
  readonly name: string;
  /** Of `StepType`. */
  readonly type: string;
  /** Infinity: until something else ends the execution. */
  readonly forMs: number;
  readonly output?: JsonValue;
  /** In scope from here on; step entries show them where the history is detailed. */
  readonly variables?: Readonly<Record<string, JsonValue>>;
  /** Raises this payload at its end. */
  readonly raise?: JsonValue;
  /** A `try` around it: goes on with the next step. */
  readonly isCaught?: boolean;
}

export type CallbackMethod = "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "PATCH";

/** `events.await_callback`, of a callback that it makes unless another step has. */
export interface AwaitStep {
  readonly kind: "await";
  readonly name: string;
  /** Which of the execution's callbacks, by a name of the test's. Default: the step's name. */
  readonly callback: string;
  readonly method: CallbackMethod;
  /** Default 12 hours: https://cloud.google.com/workflows/docs/reference/stdlib/events/await_callback */
  readonly timeoutMs: number;
  /** How long a payload lies there before the workflow takes it (assumed that there is such a time; default 0). */
  readonly acceptsAfterMs: number;
  readonly isCaught?: boolean;
  readonly variables?: Readonly<Record<string, JsonValue>>;
}

/** All branches at once. */
export interface ParallelStep {
  readonly kind: "parallel";
  readonly name: string;
  readonly branches: Readonly<Record<string, readonly Step[]>>;
}

/** A `for`, one item after the other. */
export interface LoopStep {
  readonly kind: "loop";
  readonly name: string;
  readonly items: number;
  readonly each: (index: number) => readonly Step[];
}

/** A call of a sub-workflow. */
export interface CallStep {
  readonly kind: "call";
  readonly name: string;
  readonly routine: string;
  readonly steps: readonly Step[];
}

export const step = (name: string, forMs: number, more: Partial<PlainStep> = {}): PlainStep => ({
  kind: "step",
  name,
  type: "STEP_STD_LIB_CALL",
  forMs,
  ...more,
});

export const awaitCallback = (name: string, more: Partial<AwaitStep> = {}): AwaitStep => ({
  kind: "await",
  name,
  callback: name,
  method: "POST",
  timeoutMs: 43_200_000,
  acceptsAfterMs: 0,
  ...more,
});

export const parallel = (name: string, branches: Readonly<Record<string, readonly Step[]>>): ParallelStep => ({
  kind: "parallel",
  name,
  branches,
});

export const loop = (name: string, items: number, each: (index: number) => readonly Step[]): LoopStep => ({
  kind: "loop",
  name,
  items,
  each,
});

export const call = (name: string, routine: string, ...steps: readonly Step[]): CallStep => ({
  kind: "call",
  name,
  routine,
  steps,
});

/** One step without an end, for an execution that a test ends by hand. */
export const runsOn: Script = { steps: [step("work", Number.POSITIVE_INFINITY)] };

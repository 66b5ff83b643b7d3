import { setImmediate as turn } from "node:timers/promises";
import type { Host } from "./blocking-calls.ts";
import type { Scope } from "./scope.ts";
import { errorOf, type Value } from "./values.ts";

export interface Location {
  readonly routine: string;
  readonly step: string;
}

/** What a step leads to. Undefined: the next one in its list. */
export type Flow = { readonly next: string } | { readonly returned: Value } | undefined;

export type Block = (scope: Scope, thread: Thread) => Promise<Flow>;

export interface Step extends Location {
  readonly run: Block;
}

export interface Routine {
  readonly name: string;
  /** Each with its default, if it has one. */
  readonly params: ReadonlyMap<string, Value | undefined>;
  /** Set once the routine is compiled: routines may call each other. */
  body: Block;
}

export interface Program {
  readonly main: Routine;
}

/** One execution of a program. */
export interface Run {
  readonly host: Host;
  readonly signal: AbortSignal;
  /** The step that was entered last. */
  last?: Location;
  steps: number;
}

/** The workflow itself, or a branch or iteration of a parallel step that runs beside others. */
export interface Thread {
  readonly run: Run;
  readonly branches: Set<Thread>;
  at: Location | undefined;
  /** How many routines wait for the one that runs. */
  depth: number;
}

/** Documented limits of an execution. */
const maxSteps = 100_000;
const mostDepth = 20;
/** So that a loop that never waits lets a cancellation arrive. */
const stepsInTurn = 100;

export const newThread = (run: Run, depth = 0): Thread => ({ run, branches: new Set(), at: undefined, depth });

/** Where a run is: the innermost step of each branch. A step that waits for its branches is none of them. */
export const recordKeysOf = (thread: Thread): readonly Location[] => {
  if (thread.branches.size > 0) return [...thread.branches].flatMap(recordKeysOf);
  return thread.at === undefined ? [] : [thread.at];
};

const enter = async ({ routine, step }: Step, thread: Thread): Promise<void> => {
  const { run } = thread;
  run.signal.throwIfAborted();
  if (++run.steps > maxSteps) throw errorOf("ResourceLimitError", `more than ${maxSteps} steps`);
  if (run.steps % stepsInTurn === 0) await turn(undefined, { signal: run.signal });
  thread.at = { routine, step };
  run.last = thread.at;
};

/** @returns Where a jump leads that this list does not have. */
export const runSteps = async (steps: readonly Step[], scope: Scope, thread: Thread): Promise<Flow> => {
  for (let index = 0; index < steps.length; ) {
    const step = steps[index] as Step;
    await enter(step, thread);
    const flow = await step.run(scope, thread);
    if (flow === undefined) index++;
    else {
      index = "next" in flow ? steps.findIndex(({ step: name }) => name === flow.next) : -1;
      if (index < 0) return flow;
    }
  }
  return undefined;
};

export const callRoutine = async (
  routine: Routine,
  given: ReadonlyMap<string, Value>,
  thread: Thread,
): Promise<Value> => {
  if (thread.depth >= mostDepth) throw errorOf("RecursionError", `more than ${mostDepth} calls within each other`);
  const scope: Scope = { variables: new Map() };
  for (const [name, fallback] of routine.params) {
    const value = given.has(name) ? given.get(name) : fallback;
    if (value === undefined) throw errorOf("TypeError", `${routine.name} needs the argument ${name}`);
    scope.variables.set(name, value);
  }
  thread.depth++;
  try {
    const flow = await routine.body(scope, thread);
    return flow !== undefined && "returned" in flow ? flow.returned : null;
  } finally {
    thread.depth--;
  }
};

/**
 * Runs a program to its end. The argument goes to the only parameter of `main`, which is null without either.
 * @throws WorkflowError when the workflow fails, and the signal's reason when that aborts.
 */
export const runProgram = async ({ main }: Program, argument: Value | undefined, thread: Thread): Promise<Value> => {
  const given = [...main.params].map(([name, fallback]) => [name, argument ?? fallback ?? null] as const);
  return callRoutine(main, new Map(given), thread);
};

import type { JsonValue } from "@taskbridge/core/adapter";
import { type Callback, createCallback, type Payload, toBody } from "./callback.ts";
import type { AwaitStep, LoopStep, ParallelStep, PlainStep, Step } from "./script.ts";
import type { Progress, StepEntry } from "./step-entries.ts";

/** What a step has raised, on its way up to whatever catches it. */
export class Raised extends Error {
  override readonly name = "Raised";
  readonly payload: JsonValue;
  /** Innermost first. */
  readonly trace: readonly { readonly routine: string; readonly step: string }[];

  constructor(payload: JsonValue, trace: Raised["trace"]) {
    super("raised");
    this.payload = payload;
    this.trace = trace;
  }
}

/** What wakes a branch: its time, its children's end, or what one of them has raised. */
export type Wake = { readonly kind: "time" } | { readonly kind: "raised"; readonly raised: Raised };

/** One line of execution. Between two wakes it does nothing and costs nothing. */
export interface Branch {
  readonly threadId: string | undefined;
  /** Epoch milliseconds. Infinity: only a payload or a child wakes it. */
  wakeAt: number;
  /** The callback that it waits for. */
  waitsFor: { readonly callback: Callback; readonly step: AwaitStep } | undefined;
  /** Innermost last. */
  readonly stack: { readonly routine: string; readonly entry: StepEntry }[];
  previous: StepEntry | undefined;
  variables: Readonly<Record<string, JsonValue>>;
}

/** What steps act upon. */
export interface Stage {
  readonly entries: StepEntry[];
  readonly callbacks: Map<string, Callback>;
  readonly outputs: Record<string, JsonValue>;
  /** The instant that is being played. */
  at(): number;
  /** Starts branches that wake their parent once all have ended. */
  fork(parent: Branch, branches: readonly { readonly name: string; readonly steps: readonly Step[] }[]): void;
  onCallback(callback: Callback): void;
}

export type Play = Generator<void, void, Wake>;

export function* runSteps(stage: Stage, branch: Branch, routine: string, steps: readonly Step[]): Play {
  for (const one of steps) yield* runStep(stage, branch, routine, one);
}

const stepTypes = {
  await: "STEP_STD_LIB_CALL",
  loop: "STEP_FOR",
  parallel: "STEP_PARALLEL_BRANCH",
  call: "STEP_SUBWORKFLOW_CALL",
};

function* runStep(stage: Stage, branch: Branch, routine: string, one: Step): Play {
  enter(stage, branch, routine, one.name, one.kind === "step" ? one.type : stepTypes[one.kind]);
  try {
    yield* runBody(stage, branch, routine, one);
  } catch (raised) {
    if (!(raised instanceof Raised)) throw raised;
    leave(stage, branch, "STATE_FAILED", raised.payload);
    if (!("isCaught" in one) || one.isCaught !== true) throw raised;
    stage.outputs[one.name] = raised.payload;
    return;
  }
  leave(stage, branch, "STATE_SUCCEEDED");
}

function* runBody(stage: Stage, branch: Branch, routine: string, one: Step): Play {
  switch (one.kind) {
    case "step":
      return yield* runPlain(stage, branch, one);
    case "await":
      return yield* runAwait(stage, branch, one);
    case "parallel":
      return yield* runParallel(stage, branch, one);
    case "loop":
      return yield* runLoop(stage, branch, routine, one);
    case "call":
      return yield* runSteps(stage, branch, one.routine, one.steps);
  }
}

const enter = (
  stage: Stage,
  branch: Branch,
  routine: string,
  name: string,
  stepType: string,
  progress?: Progress,
): void => {
  const parent = branch.stack.at(-1)?.entry;
  const previous = branch.previous;
  const entry: StepEntry = {
    entryId: stage.entries.length + 1,
    routine,
    step: name,
    stepType,
    createdAt: stage.at(),
    updatedAt: stage.at(),
    state: "STATE_IN_PROGRESS",
    parent: parent?.entryId,
    previous: previous?.entryId,
    next: undefined,
    children: [],
    threadId: branch.threadId,
    progress,
    exception: undefined,
    variables: branch.variables,
  };
  parent?.children.push(entry.entryId);
  if (previous !== undefined) previous.next = entry.entryId;
  branch.previous = undefined;
  branch.stack.push({ routine, entry });
  stage.entries.push(entry);
};

const leave = (stage: Stage, branch: Branch, state: StepEntry["state"], exception?: JsonValue): void => {
  const entry = branch.stack.pop()?.entry;
  if (entry === undefined) return;
  entry.state = state;
  entry.updatedAt = stage.at();
  entry.exception = exception;
  entry.variables = branch.variables;
  branch.previous = entry;
};

const setVariables = (branch: Branch, more: Readonly<Record<string, JsonValue>> | undefined): void => {
  if (more === undefined) return;
  branch.variables = { ...branch.variables, ...more };
  const entry = branch.stack.at(-1)?.entry;
  if (entry !== undefined) entry.variables = branch.variables;
};

export const raise = (branch: Branch, payload: JsonValue): Raised =>
  new Raised(
    payload,
    branch.stack.toReversed().map(({ routine, entry }) => ({ routine, step: entry.step })),
  );

function* runPlain(stage: Stage, branch: Branch, one: PlainStep): Play {
  setVariables(branch, one.variables);
  branch.wakeAt = stage.at() + one.forMs;
  yield;
  if (one.raise !== undefined) throw raise(branch, one.raise);
  stage.outputs[one.name] = one.output ?? null;
}

/** `TimeoutError`, as the standard library tells it (payload's words assumed; the tag is documented). */
const timedOut = { message: "TimeoutError: timed out waiting for a callback", tags: ["TimeoutError"] };

function* runAwait(stage: Stage, branch: Branch, one: AwaitStep): Play {
  setVariables(branch, one.variables);
  let callback = stage.callbacks.get(one.callback);
  if (callback === undefined) {
    callback = createCallback(one.method, stage.at());
    stage.callbacks.set(one.callback, callback);
    stage.onCallback(callback);
  }
  const deadline = stage.at() + one.timeoutMs;
  callback.waiters += 1;
  branch.waitsFor = { callback, step: one };
  branch.wakeAt = callback.slot === undefined ? deadline : stage.at() + one.acceptsAfterMs;
  let payload: Payload | undefined;
  for (;;) {
    yield;
    payload = callback.slot;
    if (payload !== undefined || stage.at() >= deadline) break;
    branch.wakeAt = deadline;
  }
  branch.waitsFor = undefined;
  callback.waiters -= 1;
  if (payload === undefined) throw raise(branch, timedOut);
  callback.slot = undefined;
  stage.outputs[one.name] = (toBody(payload) ?? null) as JsonValue;
}

function* runParallel(stage: Stage, branch: Branch, { branches }: ParallelStep): Play {
  const all = Object.entries(branches).map(([name, steps]) => ({ name, steps }));
  if (all.length === 0) return;
  stage.fork(branch, all);
  branch.wakeAt = Number.POSITIVE_INFINITY;
  const wake: Wake = yield;
  if (wake.kind === "raised") throw wake.raised;
}

function* runLoop(stage: Stage, branch: Branch, routine: string, { name, items, each }: LoopStep): Play {
  for (let index = 0; index < items; index += 1) {
    enter(stage, branch, routine, name, "STEP_FOR_ITERATION", {
      type: "PROGRESS_TYPE_FOR",
      number: index + 1,
      expected: items,
    });
    try {
      yield* runSteps(stage, branch, routine, each(index));
    } catch (raised) {
      if (raised instanceof Raised) leave(stage, branch, "STATE_FAILED", raised.payload);
      throw raised;
    }
    leave(stage, branch, "STATE_SUCCEEDED");
  }
}

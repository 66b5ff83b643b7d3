import type { JsonValue } from "@taskbridge/core/adapter";
import type { Callback, Payload } from "./callback.ts";
import { type Branch, type Play, Raised, raise, runSteps, type Stage, type Wake } from "./run-steps.ts";
import type { Script } from "./script.ts";
import type { StepEntry } from "./step-entries.ts";

/** The members of the API's `Error`, before they are written as JSON. */
export interface Failure {
  readonly payload: string;
  readonly context?: string;
  readonly trace?: readonly { readonly routine: string; readonly step: string }[];
}

export type Ending =
  | { readonly state: "SUCCEEDED"; readonly result: string }
  | { readonly state: "FAILED"; readonly error: Failure }
  | { readonly state: "CANCELLED"; readonly error?: Failure };

export interface CurrentStep {
  readonly routine: string;
  readonly step: string;
}

/** One run of a script. It has no timers: it catches up when somebody looks. */
export interface Performance {
  readonly entries: readonly StepEntry[];
  readonly callbacks: ReadonlyMap<string, Callback>;
  /** When something happens next by itself, in epoch milliseconds. */
  nextAt(): number;
  currentSteps(): readonly CurrentStep[];
  /** Plays what was due until an instant. */
  catchUp(now: number): void;
  /** Puts a payload into the callback's empty slot. */
  deliver(callback: Callback, payload: Payload, now: number): void;
  /** Ends it from outside. Nothing when it has ended. */
  end(ending: Ending, now: number): void;
}

export interface PerformanceOptions {
  readonly script: Script;
  readonly startedAt: number;
  readonly variables: Readonly<Record<string, JsonValue>>;
  readonly onCallback: (callback: Callback) => void;
  readonly onEnd: (ending: Ending, at: number) => void;
}

interface Line {
  readonly branch: Branch;
  readonly play: Play;
  readonly parent: Line | undefined;
  children: number;
  /** Of its children. */
  readonly failures: { readonly id: string; readonly raised: Raised }[];
}

const never = Number.POSITIVE_INFINITY;

export const perform = (options: PerformanceOptions): Performance => {
  const { script, startedAt } = options;
  const lines = new Set<Line>();
  let playedAt = startedAt;
  let nextAt = startedAt;
  let hasEnded = false;
  let lastSteps: readonly CurrentStep[] = [];

  const stage: Stage = {
    entries: [],
    callbacks: new Map(),
    outputs: {},
    at: () => playedAt,
    onCallback: options.onCallback,
    fork: (parent, branches) => {
      const line = [...lines].find(({ branch }) => branch === parent);
      for (const { name, steps } of branches) {
        const { routine = "main", entry } = parent.stack.at(-1) ?? {};
        const stack = entry === undefined ? [] : [{ routine, entry }];
        const threadId = parent.threadId === undefined ? name : `${parent.threadId}/${name}`;
        const branch = createBranch(threadId, playedAt, parent.variables, stack);
        lines.add({ branch, play: runSteps(stage, branch, routine, steps), parent: line, children: 0, failures: [] });
        if (line !== undefined) line.children += 1;
      }
    },
  };

  const readSteps = (): readonly CurrentStep[] =>
    [...lines]
      // Who waits for children shows nothing of its own. That all branches show theirs is assumed.
      .filter(({ children }) => children === 0)
      .flatMap(({ branch }) => branch.stack.slice(-1))
      .map(({ routine, entry }) => ({ routine, step: entry.step }));

  const end = (ending: Ending, at: number): void => {
    if (hasEnded) return;
    hasEnded = true;
    // "If the workflow has succeeded or failed, this is the last attempted or executed step."
    const steps = readSteps();
    if (steps.length > 0) lastSteps = steps;
    for (const { branch } of lines)
      for (const { entry } of branch.stack)
        if (entry.state === "STATE_IN_PROGRESS") Object.assign(entry, { state: "STATE_CANCELLED", updatedAt: at });
    lines.clear();
    nextAt = never;
    options.onEnd(ending, at);
  };

  const resume = (line: Line, wake: Wake): void => {
    const before = line.branch.stack.at(-1);
    try {
      const { done } = line.play.next(wake);
      const last = line.branch.stack.at(-1) ?? before ?? toFrame(line.branch.previous);
      if (last !== undefined) lastSteps = [{ routine: last.routine, step: last.entry.step }];
      if (done === true) finish(line);
    } catch (raised) {
      if (!(raised instanceof Raised)) throw raised;
      lastSteps = raised.trace.slice(0, 1);
      fail(line, raised);
    }
  };

  const finish = (line: Line): void => {
    lines.delete(line);
    const { parent } = line;
    if (parent === undefined) end(toEnding(script, stage.outputs, lastSteps), playedAt);
    else join(parent);
  };

  const fail = (line: Line, raised: Raised): void => {
    lines.delete(line);
    const { parent } = line;
    if (parent === undefined) {
      end({ state: "FAILED", error: toFailure(raised) }, playedAt);
      return;
    }
    parent.failures.push({ id: line.branch.threadId ?? "", raised });
    join(parent);
  };

  /**
   * "The default policy, continueAll, results in no further action, and all other branches will attempt to run."
   * https://cloud.google.com/workflows/docs/reference/syntax/parallel-steps
   */
  const join = (parent: Line): void => {
    parent.children -= 1;
    if (parent.children > 0) return;
    const failures = parent.failures.splice(0);
    if (failures.length === 0) resume(parent, { kind: "time" });
    else resume(parent, { kind: "raised", raised: raise(parent.branch, toBranchError(failures)) });
  };

  const soonest = (): Line | undefined => {
    let first: Line | undefined;
    for (const line of lines) if (first === undefined || line.branch.wakeAt < first.branch.wakeAt) first = line;
    return first;
  };

  const catchUp = (now: number): void => {
    while (!hasEnded && nextAt <= now) {
      const line = soonest();
      nextAt = line?.branch.wakeAt ?? never;
      if (nextAt > now || line === undefined) return;
      playedAt = nextAt;
      resume(line, { kind: "time" });
    }
  };

  const root = createBranch(undefined, startedAt, options.variables, []);
  lines.add({
    branch: root,
    play: runSteps(stage, root, "main", script.steps),
    parent: undefined,
    children: 0,
    failures: [],
  });
  return {
    entries: stage.entries,
    callbacks: stage.callbacks,
    nextAt: () => nextAt,
    currentSteps: () => (hasEnded ? lastSteps : readSteps()),
    catchUp,
    deliver: (callback, payload, now) => {
      callback.slot = payload;
      const line = [...lines].find(({ branch }) => branch.waitsFor?.callback === callback);
      if (line === undefined) return;
      line.branch.wakeAt = now + (line.branch.waitsFor?.step.acceptsAfterMs ?? 0);
      nextAt = Math.min(nextAt, line.branch.wakeAt);
      catchUp(now);
    },
    end: (ending, now) => {
      catchUp(now);
      end(ending, now);
    },
  };
};

const createBranch = (
  threadId: string | undefined,
  wakeAt: number,
  variables: Branch["variables"],
  stack: Branch["stack"],
): Branch => ({ threadId, wakeAt, waitsFor: undefined, stack, previous: undefined, variables });

/** What comes of branches that have failed. Its tag is documented; the rest is assumed. */
const toBranchError = (failures: Line["failures"]): JsonValue => ({
  message: "UnhandledBranchError: One or more branches or iterations encountered an unhandled runtime error",
  tags: ["UnhandledBranchError", "RuntimeError"],
  branches: failures.map(({ id, raised }) => ({ id, error: { payload: JSON.stringify(raised.payload) } })),
});

const toFrame = (entry: StepEntry | undefined): { routine: string; entry: StepEntry } | undefined =>
  entry === undefined ? undefined : { routine: entry.routine, entry };

const toEnding = (
  { end = { succeed: null } }: Script,
  outputs: Readonly<Record<string, JsonValue>>,
  trace: readonly CurrentStep[],
): Ending => {
  if ("resultText" in end) return { state: "SUCCEEDED", result: end.resultText };
  if ("raise" in end) return { state: "FAILED", error: toFailure({ payload: end.raise, trace }) };
  const { succeed } = end;
  return { state: "SUCCEEDED", result: JSON.stringify(typeof succeed === "function" ? succeed(outputs) : succeed) };
};

/** `context` is a "human-readable stack trace string"; its form is taken from examples of the documentation. */
export const toFailure = ({ payload, trace }: Pick<Raised, "payload" | "trace">): Failure => ({
  payload: JSON.stringify(payload),
  context: trace
    .map(({ routine, step }, index) => `in step "${step}", routine "${routine}", line: ${toLine(index)}`)
    .join("\n"),
  trace,
});

/** A line in the source, which the fake does not have. */
export const toLine = (index: number): number => 10 - Math.min(index, 9);

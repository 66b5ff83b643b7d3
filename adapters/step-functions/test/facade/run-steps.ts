import { randomUUID } from "node:crypto";
import type { JsonValue } from "@taskbridge/core/adapter";
import { type History, type Thread, whole } from "./history.ts";
import type { AskStep, MapRunStep, StateStep, Step } from "./script.ts";
import { StateFailure } from "./state-failure.ts";

/** A task whose token is out. */
export interface OpenTask {
  readonly token: string;
  readonly step: AskStep;
  readonly timeoutAt: number;
  /** Moved on by each heartbeat. */
  heartbeatAt: number;
}

/** What wakes a branch: its time, its children's end, or an answer. */
export type Wake =
  | { readonly kind: "time" }
  | { readonly kind: "output"; readonly output: string }
  | { readonly kind: "failure"; readonly failure: StateFailure };

/** One line of execution. Between two wakes it does nothing and costs nothing. */
export interface Branch extends Thread {
  /** Epoch milliseconds. Infinity: only an answer or a child wakes it. */
  wakeAt: number;
  task: OpenTask | undefined;
}

/** A distributed Map that runs or has run. */
export interface MapRunProgress {
  readonly arn: string;
  readonly startedAt: number;
  readonly step: MapRunStep;
}

/** Which item of which inline Map a branch is for. */
export interface MapItem {
  readonly name: string;
  readonly index: number;
}

/** What steps act upon. */
export interface Stage {
  readonly history: History;
  readonly executionArn: string;
  readonly region: string;
  /** What states have put out, by their name. */
  readonly outputs: Record<string, JsonValue>;
  readonly mapRuns: MapRunProgress[];
  /** The instant that is being played. */
  at(): number;
  openTask(branch: Branch, step: AskStep): OpenTask;
  /** Starts branches that wake their parent once all have ended. */
  fork(
    parent: Branch,
    branches: readonly (readonly Step[])[],
    begin: (child: Branch, index: number) => MapItem | undefined,
  ): void;
}

export type Play = Generator<void, void, Wake>;

export function* runSteps(stage: Stage, branch: Branch, steps: readonly Step[]): Play {
  for (const step of steps) yield* runStep(stage, branch, step);
}

function* runStep(stage: Stage, branch: Branch, step: Step): Play {
  switch (step.kind) {
    case "state":
      return yield* runState(stage, branch, step);
    case "ask":
      return yield* runAsk(stage, branch, step);
    case "parallel":
      return yield* runParallel(stage, branch, step.name, step.branches);
    case "map":
      return yield* runMap(stage, branch, step.name, step.items, step.each);
    case "mapRun":
      return yield* runMapRun(stage, branch, step);
  }
}

type StateType = StateStep["type"] | "Map" | "Parallel";

const enter = ({ history, at }: Stage, branch: Branch, type: StateType, name: string): void => {
  const stateEnteredEventDetails = { name, input: "{}", inputDetails: whole };
  history.add(branch, at(), `${type}StateEntered`, { stateEnteredEventDetails });
};

const exit = (
  { history, at, outputs }: Stage,
  branch: Branch,
  type: StateType,
  name: string,
  value: JsonValue,
): void => {
  outputs[name] = value;
  const stateExitedEventDetails = { name, output: JSON.stringify(value), outputDetails: whole };
  history.add(branch, at(), `${type}StateExited`, { stateExitedEventDetails });
};

function* sleep(stage: Stage, branch: Branch, forMs: number): Play {
  branch.wakeAt = stage.at() + forMs;
  yield;
}

function* runState(stage: Stage, branch: Branch, { type, name, forMs, output = {} }: StateStep): Play {
  enter(stage, branch, type, name);
  yield* sleep(stage, branch, forMs);
  exit(stage, branch, type, name, output);
}

function* runAsk(stage: Stage, branch: Branch, step: AskStep): Play {
  const { history, at } = stage;
  enter(stage, branch, "Task", step.name);
  const task = stage.openTask(branch, step);
  const kind = { resourceType: step.service, resource: `${step.action}.waitForTaskToken` };
  const parameters = JSON.stringify(step.parameters(task.token, stage.executionArn));
  const { timeoutMs, heartbeatMs } = step;
  history.add(branch, at(), "TaskScheduled", {
    taskScheduledEventDetails: {
      ...kind,
      region: stage.region,
      parameters,
      ...(timeoutMs === undefined ? {} : { timeoutInSeconds: timeoutMs / 1_000 }),
      ...(heartbeatMs === undefined ? {} : { heartbeatInSeconds: heartbeatMs / 1_000 }),
    },
  });
  history.add(branch, at(), "TaskStarted", { taskStartedEventDetails: kind });
  const receipt = JSON.stringify({ MessageId: task.token.slice(-8) });
  history.add(branch, at(), "TaskSubmitted", {
    taskSubmittedEventDetails: { ...kind, output: receipt, outputDetails: whole },
  });
  const wake: Wake = yield;
  branch.task = undefined;
  if (wake.kind === "output") {
    history.add(branch, at(), "TaskSucceeded", {
      taskSucceededEventDetails: { ...kind, output: wake.output, outputDetails: whole },
    });
    return exit(stage, branch, "Task", step.name, JSON.parse(wake.output));
  }
  const failure = wake.kind === "failure" ? wake.failure : new StateFailure("States.Timeout");
  const reported = {
    ...kind,
    ...(failure.code === undefined ? {} : { error: failure.code }),
    ...(failure.reason === undefined ? {} : { cause: failure.reason }),
  };
  if (wake.kind === "failure") history.add(branch, at(), "TaskFailed", { taskFailedEventDetails: reported });
  else history.add(branch, at(), "TaskTimedOut", { taskTimedOutEventDetails: reported });
  if (step.isCaught !== true) throw failure;
  exit(stage, branch, "Task", step.name, { Error: failure.code ?? "", Cause: failure.reason ?? "" });
}

function* join(branch: Branch): Play {
  branch.wakeAt = Number.POSITIVE_INFINITY;
  const wake: Wake = yield;
  if (wake.kind === "failure") throw wake.failure;
}

function* runParallel(stage: Stage, branch: Branch, name: string, branches: readonly (readonly Step[])[]): Play {
  const { history, at } = stage;
  enter(stage, branch, "Parallel", name);
  history.add(branch, at(), "ParallelStateStarted");
  stage.fork(branch, branches, () => undefined);
  try {
    if (branches.length > 0) yield* join(branch);
  } catch (failure) {
    history.add(branch, at(), "ParallelStateFailed");
    throw failure;
  }
  history.add(branch, at(), "ParallelStateSucceeded");
  exit(stage, branch, "Parallel", name, []);
}

function* runMap(
  stage: Stage,
  branch: Branch,
  name: string,
  length: number,
  each: (index: number) => readonly Step[],
): Play {
  const { history, at } = stage;
  enter(stage, branch, "Map", name);
  history.add(branch, at(), "MapStateStarted", { mapStateStartedEventDetails: { length } });
  const items = Array.from({ length }, (_, index) => each(index));
  stage.fork(branch, items, (child, index) => {
    const item = { name, index };
    history.add(child, at(), "MapIterationStarted", { mapIterationStartedEventDetails: item });
    return item;
  });
  try {
    if (length > 0) yield* join(branch);
  } catch (failure) {
    history.add(branch, at(), "MapStateFailed");
    throw failure;
  }
  history.add(branch, at(), "MapStateSucceeded");
  exit(stage, branch, "Map", name, []);
}

function* runMapRun(stage: Stage, branch: Branch, step: MapRunStep): Play {
  const { history, at, mapRuns } = stage;
  enter(stage, branch, "Map", step.name);
  history.add(branch, at(), "MapStateStarted", { mapStateStartedEventDetails: { length: step.items } });
  const arn = stage.executionArn.replace(/:execution:([^:]+):.*$/, `:mapRun:$1/${step.name}:${randomUUID()}`);
  mapRuns.push({ arn, startedAt: at(), step });
  history.add(branch, at(), "MapRunStarted", { mapRunStartedEventDetails: { mapRunArn: arn } });
  yield* sleep(stage, branch, step.items * step.itemMs);
  history.add(branch, at(), "MapRunSucceeded");
  history.add(branch, at(), "MapStateSucceeded");
  exit(stage, branch, "Map", step.name, []);
}

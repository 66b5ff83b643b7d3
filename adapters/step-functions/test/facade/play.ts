import { randomBytes } from "node:crypto";
import type { JsonValue } from "@taskbridge/core/adapter";
import { type History, whole } from "./history.ts";
import {
  type Branch,
  type MapItem,
  type MapRunProgress,
  type OpenTask,
  type Play,
  runSteps,
  type Stage,
  type Wake,
} from "./run-steps.ts";
import type { Script, Step } from "./script.ts";
import { StateFailure } from "./state-failure.ts";

export type Ending =
  | { readonly status: "SUCCEEDED"; readonly output: string }
  | { readonly status: "FAILED" | "ABORTED"; readonly error?: string; readonly cause?: string }
  | { readonly status: "TIMED_OUT" };

/** One run of a script, from a start or a redrive to an end. It has no timers: it catches up when somebody looks. */
export interface Performance {
  readonly mapRuns: readonly MapRunProgress[];
  /** When something happens next by itself, in epoch milliseconds. */
  nextAt(): number;
  /** Plays what was due until an instant. */
  catchUp(now: number): void;
  /** Gives an open task what it waits for. False when it is not open. */
  answer(token: string, wake: Wake, now: number): boolean;
  heartbeat(token: string, now: number): boolean;
  /** Ends it from outside. Nothing when it has ended. */
  end(ending: Ending, now: number): void;
}

export interface PerformanceOptions {
  readonly script: Script;
  readonly history: History;
  readonly executionArn: string;
  readonly region: string;
  /** The event that the first one follows. */
  readonly after: number;
  readonly startedAt: number;
  readonly onToken: (token: string) => void;
  readonly onEnd: (ending: Ending, at: number) => void;
}

interface Line {
  readonly branch: Branch;
  readonly play: Play;
  readonly parent: Line | undefined;
  children: number;
  readonly item: MapItem | undefined;
}

const never = Number.POSITIVE_INFINITY;

/** As long and as opaque as those of the service. */
const createToken = (): string => `AQCsAAAAKgAAAAMAAAAAAAAAA${randomBytes(96).toString("base64")}`;

export const perform = (options: PerformanceOptions): Performance => {
  const { script, history, executionArn, region, startedAt } = options;
  const lines = new Map<Branch, Line>();
  const deadline = startedAt + (script.timeoutMs ?? never);
  const root: Branch = { lastEventId: options.after, wakeAt: startedAt, task: undefined };
  let playedAt = startedAt;
  let nextAt = startedAt;
  let hasEnded = false;

  const stage: Stage = {
    history,
    executionArn,
    region,
    outputs: {} as Record<string, JsonValue>,
    mapRuns: [],
    at: () => playedAt,
    openTask: (branch, step) => {
      const timeoutAt = playedAt + (step.timeoutMs ?? never);
      const heartbeatAt = playedAt + (step.heartbeatMs ?? never);
      const task: OpenTask = { token: createToken(), step, timeoutAt, heartbeatAt };
      branch.task = task;
      branch.wakeAt = Math.min(timeoutAt, heartbeatAt);
      options.onToken(task.token);
      return task;
    },
    fork: (parent, branches, begin) => {
      const line = lines.get(parent);
      for (const [index, steps] of branches.entries()) {
        const child: Branch = { lastEventId: parent.lastEventId, wakeAt: playedAt, task: undefined };
        const item = begin(child, index);
        add(child, steps, line, item);
        if (line !== undefined) line.children += 1;
      }
    },
  };

  const add = (branch: Branch, steps: readonly Step[], parent?: Line, item?: MapItem): void => {
    lines.set(branch, { branch, play: runSteps(stage, branch, steps), parent, children: 0, item });
  };

  const end = (ending: Ending, at: number): void => {
    if (hasEnded) return;
    hasEnded = true;
    lines.clear();
    nextAt = never;
    recordEnd(history, root, ending, at);
    options.onEnd(ending, at);
  };

  const resume = (line: Line, wake: Wake): void => {
    try {
      if (line.play.next(wake).done === true) finish(line);
    } catch (failure) {
      if (!(failure instanceof StateFailure)) throw failure;
      fail(line, failure);
    }
  };

  const finish = (line: Line): void => {
    const { branch, parent, item } = line;
    lines.delete(branch);
    if (item !== undefined)
      history.add(branch, playedAt, "MapIterationSucceeded", { mapIterationSucceededEventDetails: item });
    if (parent === undefined) {
      end(toEnding(script, stage.outputs), playedAt);
      return;
    }
    parent.children -= 1;
    // What a parent tells next follows what its last child told.
    parent.branch.lastEventId = branch.lastEventId;
    if (parent.children === 0) resume(parent, { kind: "time" });
  };

  const fail = (line: Line, failure: StateFailure): void => {
    const { branch, parent, item } = line;
    lines.delete(branch);
    if (item !== undefined)
      history.add(branch, playedAt, "MapIterationFailed", { mapIterationFailedEventDetails: item });
    if (parent === undefined) {
      end(toFailed(failure), playedAt);
      return;
    }
    abortChildren(parent);
    parent.branch.lastEventId = branch.lastEventId;
    resume(parent, { kind: "failure", failure });
  };

  const abortChildren = (parent: Line): void => {
    for (const child of [...lines.values()].filter((one) => one.parent === parent)) {
      abortChildren(child);
      lines.delete(child.branch);
      if (child.branch.task !== undefined) history.add(child.branch, playedAt, "TaskStateAborted");
      if (child.item !== undefined)
        history.add(child.branch, playedAt, "MapIterationAborted", { mapIterationAbortedEventDetails: child.item });
    }
    parent.children = 0;
  };

  const soonest = (): Line | undefined => {
    let first: Line | undefined;
    for (const line of lines.values())
      if (first === undefined || line.branch.wakeAt < first.branch.wakeAt) first = line;
    return first;
  };

  const catchUp = (now: number): void => {
    while (!hasEnded && nextAt <= now) {
      const line = soonest();
      const wakeAt = line?.branch.wakeAt ?? never;
      nextAt = Math.min(wakeAt, deadline);
      if (nextAt > now) return;
      playedAt = nextAt;
      if (deadline <= wakeAt || line === undefined) end({ status: "TIMED_OUT" }, deadline);
      else resume(line, { kind: "time" });
    }
  };

  /** A wake at any other time than the one that was planned. */
  const wakeNow = (token: string, now: number, act: (line: Line, task: OpenTask) => void): boolean => {
    catchUp(now);
    const line = [...lines.values()].find(({ branch }) => branch.task?.token === token);
    if (line?.branch.task === undefined) return false;
    playedAt = now;
    act(line, line.branch.task);
    nextAt = Math.min(nextAt, soonest()?.branch.wakeAt ?? never);
    catchUp(now);
    return true;
  };

  add(root, script.steps);
  return {
    mapRuns: stage.mapRuns,
    nextAt: () => nextAt,
    catchUp,
    answer: (token, wake, now) => wakeNow(token, now, (line) => resume(line, wake)),
    heartbeat: (token, now) =>
      wakeNow(token, now, ({ branch }, task) => {
        task.heartbeatAt = now + (task.step.heartbeatMs ?? never);
        branch.wakeAt = Math.min(task.timeoutAt, task.heartbeatAt);
        nextAt = now;
      }),
    end: (ending, now) => {
      catchUp(now);
      end(ending, now);
    },
  };
};

const toEnding = ({ end = { succeed: {} } }: Script, outputs: Readonly<Record<string, JsonValue>>): Ending => {
  if ("fail" in end) return { status: "FAILED", ...end.fail };
  const { succeed } = end;
  return { status: "SUCCEEDED", output: JSON.stringify(typeof succeed === "function" ? succeed(outputs) : succeed) };
};

const toFailed = ({ code, reason }: StateFailure): Ending => ({
  status: "FAILED",
  ...(code === undefined ? {} : { error: code }),
  ...(reason === undefined ? {} : { cause: reason }),
});

const recordEnd = (history: History, root: Branch, ending: Ending, at: number): void => {
  // What no state has brought about follows none.
  const fromOutside = { lastEventId: 0 };
  switch (ending.status) {
    case "SUCCEEDED":
      history.add(root, at, "ExecutionSucceeded", {
        executionSucceededEventDetails: { output: ending.output, outputDetails: whole },
      });
      return;
    case "TIMED_OUT":
      history.add(fromOutside, at, "ExecutionTimedOut", { executionTimedOutEventDetails: {} });
      return;
    default: {
      const { status, ...why } = ending;
      if (status === "FAILED") history.add(root, at, "ExecutionFailed", { executionFailedEventDetails: why });
      else history.add(fromOutside, at, "ExecutionAborted", { executionAbortedEventDetails: why });
    }
  }
};

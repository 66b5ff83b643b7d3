import type { ExecutionStatus, HistoryEvent } from "@aws-sdk/client-sfn";
import { createHistory, whole } from "./history.ts";
import type { Machine } from "./machine.ts";
import { type Ending, type Performance, perform } from "./play.ts";
import type { Script } from "./script.ts";

/** What a test's script may depend on. */
export interface ExecutionFacts {
  readonly arn: string;
  readonly name: string;
  /** The JSON text as it was sent. */
  readonly input: string;
  readonly startedAt: number;
  /** 0 at first, then one more with each redrive. */
  readonly redriveCount: number;
}

/** Under which name of the machine it was started. */
export interface StartedAs {
  readonly versionArn?: string;
  readonly aliasArn?: string;
}

/** What Describe and List tell from some instant on. */
export interface ExecutionView {
  readonly at: number;
  readonly status: ExecutionStatus;
  readonly stopAt?: number;
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
  readonly redriveCount: number;
  readonly redriveAt?: number;
}

export interface Execution {
  readonly arn: string;
  readonly name: string;
  readonly machine: Machine;
  readonly input: string;
  readonly startedAt: number;
  readonly startedAs: StartedAs;
  /** Rises with each start of a machine. */
  readonly sequence: number;
  /** Resolves at its first end. */
  readonly ended: Promise<void>;
  /** As it is now, all caught up. */
  now(): ExecutionView;
  /** As it was; undefined before its start. */
  viewAt(instant: number): ExecutionView | undefined;
  events(): readonly HistoryEvent[];
  performance(): Performance;
  end(ending: Ending): void;
  redrive(): ExecutionView;
}

export interface ExecutionOptions extends Omit<ExecutionFacts, "redriveCount"> {
  readonly machine: Machine;
  readonly startedAs: StartedAs;
  readonly sequence: number;
  readonly region: string;
  readonly clockNow: () => number;
  readonly scriptOf: (facts: ExecutionFacts) => Script;
  readonly onToken: (token: string, execution: Execution) => void;
}

/** Nothing is played before somebody looks, so that thousands of executions that nobody asks about cost nothing. */
export const createExecution = (options: ExecutionOptions): Execution => {
  const { arn, name, machine, input, startedAt, clockNow } = options;
  const history = createHistory();
  const views: ExecutionView[] = [{ at: startedAt, status: "RUNNING", redriveCount: 0 }];
  let current: Performance | undefined;
  let hasEnded = (): void => {};
  const ended = new Promise<void>((resolve) => {
    hasEnded = resolve;
  });
  const last = (): ExecutionView => views.at(-1) as ExecutionView;

  const play = (redriveCount: number, at: number, after: number): Performance =>
    perform({
      script: options.scriptOf({ arn, name, input, startedAt, redriveCount }),
      history,
      executionArn: arn,
      region: options.region,
      after,
      startedAt: at,
      onToken: (token) => options.onToken(token, execution),
      onEnd: (ending, endedAt) => {
        const { redriveAt } = last();
        const redriven = redriveAt === undefined ? {} : { redriveAt };
        views.push({ ...ending, at: endedAt, stopAt: endedAt, redriveCount, ...redriven });
        hasEnded();
      },
    });
  const performance = (): Performance => {
    if (current === undefined) {
      const executionStartedEventDetails = { input, inputDetails: whole, roleArn: machine.roleArn };
      history.add({ lastEventId: 0 }, startedAt, "ExecutionStarted", { executionStartedEventDetails });
      // The first state does not follow the start: both say 0.
      current = play(0, startedAt, 0);
    }
    return current;
  };
  const catchUp = (): Performance => {
    const one = performance();
    one.catchUp(clockNow());
    return one;
  };

  const execution: Execution = {
    arn,
    name,
    machine,
    input,
    startedAt,
    startedAs: options.startedAs,
    sequence: options.sequence,
    ended,
    now: () => {
      catchUp();
      return last();
    },
    viewAt: (instant) => {
      catchUp();
      return views.findLast(({ at }) => at <= instant);
    },
    events: () => {
      catchUp();
      return history.events;
    },
    performance: catchUp,
    end: (ending) => performance().end(ending, clockNow()),
    redrive: () => {
      const redriveCount = last().redriveCount + 1;
      const at = clockNow();
      const thread = { lastEventId: history.events.length };
      history.add(thread, at, "ExecutionRedriven", { executionRedrivenEventDetails: { redriveCount } });
      views.push({ at, status: "RUNNING", redriveCount, redriveAt: at });
      current = play(redriveCount, at, thread.lastEventId);
      return last();
    },
  };
  return execution;
};

import type { JsonValue } from "@taskbridge/core/adapter";
import type { Callback, Payload } from "./callback.ts";
import { type Ending, type Performance, perform } from "./play.ts";
import type { HistoryLevel, Workflow } from "./workflow.ts";

/** What a test's script may depend on. */
export interface ExecutionFacts {
  readonly id: string;
  /** The JSON text as it was sent; undefined when none was. */
  readonly argument: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: number;
}

/** The state from some instant on. */
export interface ExecutionView {
  readonly at: number;
  readonly state: "QUEUED" | "ACTIVE" | Ending["state"];
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly ending?: Ending;
}

export interface Execution extends ExecutionFacts {
  readonly workflow: Workflow;
  /** Rises with each one of the fake. */
  readonly sequence: number;
  /** On top of the milliseconds of its times. */
  readonly nanos: number;
  readonly revisionId: string;
  readonly historyLevel: HistoryLevel;
  readonly callLogLevel: string | undefined;
  /** As it is now, all caught up. */
  now(): ExecutionView;
  /** As it was; undefined before its creation. */
  viewAt(instant: number): ExecutionView | undefined;
  /** Undefined while it is queued. */
  performance(): Performance | undefined;
  /** Leaves the backlog. */
  begin(at: number): void;
  deliver(callback: Callback, payload: Payload): void;
  end(ending: Ending): void;
}

export interface ExecutionOptions extends ExecutionFacts {
  readonly workflow: Workflow;
  readonly sequence: number;
  readonly historyLevel: HistoryLevel;
  readonly callLogLevel: string | undefined;
  readonly isQueued: boolean;
  readonly clockNow: () => number;
  readonly onEnd: (execution: Execution) => void;
}

/** Nothing is played before somebody looks, so that thousands of executions that nobody asks about cost nothing. */
export const createExecution = (options: ExecutionOptions): Execution => {
  const { id, argument, labels, createdAt, workflow, sequence, clockNow } = options;
  const views: ExecutionView[] = [
    options.isQueued ? { at: createdAt, state: "QUEUED" } : { at: createdAt, state: "ACTIVE", startedAt: createdAt },
  ];
  let current: Performance | undefined;
  const last = (): ExecutionView => views.at(-1) as ExecutionView;

  const finish = (ending: Ending, at: number): void => {
    const { startedAt = at } = last();
    views.push({ at, state: ending.state, startedAt, endedAt: at, ending });
    options.onEnd(execution);
  };
  const performance = (): Performance | undefined => {
    const { startedAt, endedAt } = last();
    if (current === undefined && startedAt !== undefined && endedAt === undefined)
      current = perform({
        script: workflow.scriptOf({ id, argument, labels, createdAt }),
        startedAt,
        variables: { args: toJson(argument) },
        onCallback: () => {},
        onEnd: finish,
      });
    current?.catchUp(clockNow());
    return current;
  };

  const execution: Execution = {
    id,
    argument,
    labels,
    createdAt,
    workflow,
    sequence,
    nanos: (sequence * 7_919) % 1_000_000,
    revisionId: workflow.revisionId,
    historyLevel: options.historyLevel,
    callLogLevel: options.callLogLevel,
    performance,
    now: () => {
      performance();
      return last();
    },
    viewAt: (instant) => {
      performance();
      return last().at <= instant ? last() : views.findLast(({ at }) => at <= instant);
    },
    begin: (at) => {
      if (last().state === "QUEUED") views.push({ at, state: "ACTIVE", startedAt: at });
    },
    deliver: (callback, payload) => performance()?.deliver(callback, payload, clockNow()),
    end: (ending) => {
      const playing = performance();
      if (playing !== undefined) playing.end(ending, clockNow());
      else if (last().endedAt === undefined) finish(ending, clockNow());
    },
  };
  return execution;
};

/** The argument as the workflow sees it. What is no JSON was refused. */
const toJson = (argument: string | undefined): JsonValue =>
  argument === undefined || argument === "" ? null : (JSON.parse(argument) as JsonValue);

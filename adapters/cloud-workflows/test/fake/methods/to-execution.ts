import type { Execution, ExecutionView } from "../execution.ts";
import { type Failure, toLine } from "../play.ts";
import { toDuration, toTimestamp } from "../timestamp.ts";
import { toAnswerName, type World } from "../world.ts";

export type ViewName = "BASIC" | "FULL";

/** Members that are empty are left out, as JSON of protobuf leaves out what has its default value. */
export type ExecutionJson = Readonly<Record<string, unknown>>;

/**
 * BASIC has "name, start_time, end_time, duration, state, and workflow_revision_id" (discovery document); that it has
 * create_time is not said and so it has not. `overrides` replaces what the test wants replaced, in either view.
 */
export const toExecutionJson = (
  world: World,
  execution: Execution,
  view: ExecutionView,
  wanted: ViewName,
): ExecutionJson => {
  const basic = {
    name: toExecutionName(world, execution),
    ...toTimes(execution, view),
    state: view.state,
    workflowRevisionId: execution.revisionId,
  };
  const response = world.overrides.get(execution.id);
  const full = wanted === "BASIC" ? basic : { ...basic, ...toRest(execution, view) };
  if (response === undefined) return full;
  const hidden = wanted === "BASIC" ? [...onlyInFull] : [];
  return Object.fromEntries(
    Object.entries({ ...full, ...response }).filter(([name, value]) => value !== undefined && !hidden.includes(name)),
  );
};

/** A view never changes, and thousands are listed again and again. */
const basicTexts = new WeakMap<ExecutionView, string>();

export const toExecutionText = (world: World, execution: Execution, view: ExecutionView, wanted: ViewName): string => {
  const isPlain = wanted === "BASIC" && !world.overrides.has(execution.id);
  const known = isPlain ? basicTexts.get(view) : undefined;
  if (known !== undefined) return known;
  const text = JSON.stringify(toExecutionJson(world, execution, view, wanted));
  if (isPlain) basicTexts.set(view, text);
  return text;
};

const onlyInFull = ["createTime", "argument", "result", "error", "callLogLevel", "status", "labels", "stateError"];

export const toExecutionName = (world: World, { workflow, id }: Execution): string =>
  `${toAnswerName(world, workflow.name)}/executions/${id}`;

const toTimes = ({ nanos }: Execution, { startedAt, endedAt }: ExecutionView): object => ({
  ...(startedAt === undefined ? {} : { startTime: toTimestamp(startedAt, nanos) }),
  ...(startedAt === undefined || endedAt === undefined
    ? {}
    : { endTime: toTimestamp(endedAt, nanos), duration: toDuration(endedAt - startedAt) }),
});

const toRest = (execution: Execution, view: ExecutionView): object => {
  const { ending } = view;
  const { argument, labels, callLogLevel, historyLevel } = execution;
  const currentSteps = execution.performance()?.currentSteps() ?? [];
  return {
    createTime: toTimestamp(execution.createdAt, execution.nanos),
    ...(argument === undefined ? {} : { argument }),
    ...(ending?.state === "SUCCEEDED" ? { result: ending.result } : {}),
    ...(ending !== undefined && "error" in ending ? { error: toError(ending.error) } : {}),
    ...(callLogLevel === undefined ? {} : { callLogLevel }),
    ...(currentSteps.length === 0 ? {} : { status: { currentSteps } }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(historyLevel === "EXECUTION_HISTORY_LEVEL_UNSPECIFIED" ? {} : { executionHistoryLevel: historyLevel }),
  };
};

const toError = ({ payload, context, trace = [] }: Failure): object => ({
  payload,
  ...(context === undefined ? {} : { context }),
  ...(trace.length === 0
    ? {}
    : {
        stackTrace: {
          elements: trace.map(({ routine, step }, index) => ({
            step,
            routine,
            // All int64, which JSON of protobuf writes as text.
            position: { line: String(toLine(index)), column: "9", length: "17" },
          })),
        },
      }),
});

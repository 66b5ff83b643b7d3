import type {
  DescribeExecutionInput,
  DescribeExecutionOutput,
  DescribeMapRunInput,
  DescribeMapRunOutput,
  ExecutionListItem,
  GetExecutionHistoryInput,
  GetExecutionHistoryOutput,
  HistoryEvent,
  ListExecutionsInput,
  ListExecutionsOutput,
} from "@aws-sdk/client-sfn";
import { executionDoesNotExist, resourceNotFound, stateMachineTypeNotSupported } from "../aws-error.ts";
import { checkMaxResults, missing, requireText } from "../check-members.ts";
import type { Execution, ExecutionView, StartedAs } from "../execution.ts";
import { withoutData } from "../history.ts";
import { resolveMachine } from "../machine.ts";
import { readPage } from "../page.ts";
import { isForgotten, resolveExecution, type World } from "../world.ts";
import { toRedrive } from "./redrive-state.ts";

const toDates = ({ stopAt, redriveAt }: ExecutionView): { stopDate?: Date; redriveDate?: Date } => ({
  ...(stopAt === undefined ? {} : { stopDate: new Date(stopAt) }),
  ...(redriveAt === undefined ? {} : { redriveDate: new Date(redriveAt) }),
});

const toArns = ({ versionArn, aliasArn }: StartedAs) => ({
  ...(versionArn === undefined ? {} : { stateMachineVersionArn: versionArn }),
  ...(aliasArn === undefined ? {} : { stateMachineAliasArn: aliasArn }),
});

export const describeExecution = (world: World, request: DescribeExecutionInput): DescribeExecutionOutput => {
  const arn = requireText("executionArn", request.executionArn);
  const execution = resolveExecution(world, arn);
  const now = world.clock.now();
  const view = execution.viewAt(now - world.lag.describeMs);
  if (view === undefined) throw executionDoesNotExist(arn);
  const { status, output, error, cause, redriveCount } = view;
  return {
    executionArn: execution.arn,
    stateMachineArn: execution.machine.arn,
    name: execution.name,
    status,
    startDate: new Date(execution.startedAt),
    ...toDates(view),
    input: execution.input,
    inputDetails: { included: true },
    ...(output === undefined ? {} : { output, outputDetails: { included: true } }),
    ...(error === undefined ? {} : { error }),
    ...(cause === undefined ? {} : { cause }),
    redriveCount,
    ...toRedrive(view, execution.machine, now),
    ...toArns(execution.startedAs),
    ...world.overrides.get(arn),
  };
};

const toItem = (execution: Execution, view: ExecutionView): ExecutionListItem => ({
  executionArn: execution.arn,
  stateMachineArn: execution.machine.arn,
  name: execution.name,
  status: view.status,
  startDate: new Date(execution.startedAt),
  ...toDates(view),
  redriveCount: view.redriveCount,
  ...toArns(execution.startedAs),
});

/** Newest first, over all executions of a machine, or of one of its versions or aliases. */
export const listExecutions = (world: World, request: ListExecutionsInput): ListExecutionsOutput => {
  const { stateMachineArn, mapRunArn, statusFilter, redriveFilter, nextToken } = request;
  if (mapRunArn !== undefined) throw resourceNotFound(mapRunArn);
  if (stateMachineArn === undefined) throw missing("stateMachineArn");
  const maxResults = checkMaxResults(request.maxResults);
  const { machine, startedAs } = resolveMachine(world.machines, world.region, stateMachineArn);
  if (machine.type === "EXPRESS") throw stateMachineTypeNotSupported();
  const now = world.clock.now();
  const pages = readPage([stateMachineArn, statusFilter, redriveFilter, maxResults], nextToken, now);
  const executions: ExecutionListItem[] = [];
  let lastSequence = 0;
  for (let index = machine.executions.length - 1; index >= 0; index -= 1) {
    const execution = machine.executions[index] as Execution;
    if (pages.after !== undefined && execution.sequence >= pages.after) continue;
    if (startedAs.aliasArn !== undefined && execution.startedAs.aliasArn !== startedAs.aliasArn) continue;
    if (startedAs.versionArn !== execution.startedAs.versionArn && startedAs.versionArn !== undefined) continue;
    const view = execution.viewAt(now - world.lag.listMs);
    if (view === undefined || isForgotten(execution, now)) continue;
    if (statusFilter !== undefined && view.status !== statusFilter) continue;
    if (redriveFilter !== undefined && (redriveFilter === "REDRIVEN") !== view.redriveCount > 0) continue;
    if (executions.length === maxResults) return { executions, nextToken: pages.next(lastSequence) };
    executions.push(toItem(execution, view));
    lastSequence = execution.sequence;
  }
  return { executions };
};

export const getExecutionHistory = (world: World, request: GetExecutionHistoryInput): GetExecutionHistoryOutput => {
  const arn = requireText("executionArn", request.executionArn);
  const maxResults = checkMaxResults(request.maxResults);
  const { reverseOrder = false, includeExecutionData = true, nextToken } = request;
  const execution = resolveExecution(world, arn);
  const now = world.clock.now();
  const latest = now - world.lag.historyMs;
  const pages = readPage([arn, reverseOrder, maxResults], nextToken, now);
  const reported = execution.events().filter(({ timestamp }) => (timestamp?.getTime() ?? 0) <= latest);
  if (reported.length === 0) throw executionDoesNotExist(arn);
  if (reverseOrder) reported.reverse();
  const { after } = pages;
  const isBehind = ({ id = 0 }: HistoryEvent): boolean =>
    after === undefined || (reverseOrder ? id < after : id > after);
  const rest = reported.filter(isBehind);
  const events = rest.slice(0, maxResults);
  return {
    events: includeExecutionData ? events : events.map(withoutData),
    ...(rest.length > events.length ? { nextToken: pages.next(events.at(-1)?.id ?? 0) } : {}),
  };
};

/** One item after the other, by the time that has passed. */
export const describeMapRun = (world: World, request: DescribeMapRunInput): DescribeMapRunOutput => {
  const arn = requireText("mapRunArn", request.mapRunArn, 2_000);
  const now = world.clock.now();
  for (const { name, executions } of world.machines.values()) {
    if (!arn.includes(`:mapRun:${name}/`)) continue;
    for (const execution of executions) {
      const run = execution.performance().mapRuns.find((one) => one.arn === arn);
      if (run === undefined) continue;
      const { items, itemMs } = run.step;
      const view = execution.now();
      const until = Math.min(now, view.stopAt ?? now);
      const succeeded = Math.min(items, itemMs > 0 ? Math.floor((until - run.startedAt) / itemMs) : items);
      const isOver = succeeded === items || view.stopAt !== undefined;
      const left = items - succeeded;
      const counts = {
        pending: isOver ? 0 : left - 1,
        running: isOver ? 0 : 1,
        succeeded,
        failed: 0,
        timedOut: 0,
        aborted: isOver ? left : 0,
        total: items,
        resultsWritten: 0,
      };
      const endedAt = succeeded === items ? run.startedAt + items * itemMs : until;
      return {
        mapRunArn: arn,
        executionArn: execution.arn,
        status: left === 0 ? "SUCCEEDED" : isOver ? "ABORTED" : "RUNNING",
        startDate: new Date(run.startedAt),
        ...(isOver ? { stopDate: new Date(endedAt) } : {}),
        maxConcurrency: 1,
        toleratedFailurePercentage: 0,
        toleratedFailureCount: 0,
        itemCounts: counts,
        executionCounts: counts,
        redriveCount: 0,
      };
    }
  }
  throw resourceNotFound(arn);
};

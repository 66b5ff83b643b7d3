import type { DescribeExecutionOutput } from "@aws-sdk/client-sfn";
import { accessDenied, executionDoesNotExist, invalidArn } from "./aws-error.ts";
import type { Clock } from "./clock.ts";
import type { Execution } from "./execution.ts";
import { type Machine, toArnProblem } from "./machine.ts";

/** How far answers are behind. All of these are eventually consistent. */
export interface Lag {
  readonly describeMs: number;
  readonly listMs: number;
  readonly historyMs: number;
}

/** Everything that the actions read and change. */
export interface World {
  readonly region: string;
  readonly account: string;
  readonly clock: Clock;
  readonly machines: Map<string, Machine>;
  /** All tokens that were ever given out. */
  readonly tokens: Map<string, Execution>;
  /** By an execution's ARN, what is told of it instead of the truth, for states that no script comes to. */
  readonly overrides: Map<string, Partial<DescribeExecutionOutput>>;
  lag: Lag;
  /** The most executions that may be open at once. */
  openExecutions: number;
}

/** What an action knows of the request beside its input. */
export interface ActionCall {
  /** Fires when the caller hangs up. */
  readonly signal: AbortSignal;
}

const executionArn = /^arn:aws[a-z-]*:states:[a-z0-9-]+:\d{12}:execution:([^:]+):([^:]+)$/;
const keptMs = 90 * 86_400_000;

/** A closed Standard execution is forgotten after 90 days, and its name is free again. */
export const isForgotten = (execution: Execution, now: number): boolean => {
  if (now - execution.startedAt < keptMs) return false;
  const { stopAt } = execution.now();
  return stopAt !== undefined && now - stopAt >= keptMs;
};

/** What an execution's ARN names, also when it has just been started and no read would tell of it yet. */
export const resolveExecution = ({ machines, clock }: World, arn: string): Execution => {
  const [, machine, name] = executionArn.exec(arn) ?? [];
  if (machine === undefined || name === undefined) throw invalidArn(toArnProblem(arn));
  const execution = machines.get(machine)?.byName.get(name);
  if (execution === undefined || isForgotten(execution, clock.now())) throw executionDoesNotExist(arn);
  return execution;
};

export const denied = (world: World, action: string, input: Readonly<Record<string, unknown>>): Error => {
  const named = [input.stateMachineArn, input.executionArn, input.mapRunArn, input.resourceArn];
  const resource = named.find((one) => typeof one === "string") ?? "*";
  return accessDenied(`arn:aws:iam::${world.account}:user/taskbridge`, action, String(resource));
};

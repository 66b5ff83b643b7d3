import { randomUUID } from "node:crypto";
import type {
  RedriveExecutionInput,
  RedriveExecutionOutput,
  StartExecutionInput,
  StartExecutionOutput,
  StartSyncExecutionInput,
  StartSyncExecutionOutput,
  StopExecutionInput,
  StopExecutionOutput,
} from "@aws-sdk/client-sfn";
import {
  executionAlreadyExists,
  executionLimitExceeded,
  executionNotRedrivable,
  stateMachineDeleting,
  stateMachineTypeNotSupported,
} from "../aws-error.ts";
import { checkLength, checkName, checkPayload, requireText } from "../check-members.ts";
import { createExecution, type Execution } from "../execution.ts";
import { type MachineTarget, resolveMachine } from "../machine.ts";
import { type ActionCall, isForgotten, resolveExecution, type World } from "../world.ts";
import { toRedrive } from "./redrive-state.ts";

const syncMs = 300_000;

/** Adds an execution without asking anybody, for tests that need thousands. */
export const addExecution = (world: World, target: MachineTarget, name: string, input: string): Execution => {
  const { machine, startedAs } = target;
  const isExpress = machine.type === "EXPRESS";
  const kind = isExpress ? "express" : "execution";
  const tail = isExpress ? `${name}:${randomUUID()}` : name;
  const execution = createExecution({
    arn: `arn:aws:states:${world.region}:${world.account}:${kind}:${machine.name}:${tail}`,
    name,
    input,
    startedAt: world.clock.now(),
    machine,
    startedAs,
    sequence: (machine.executions.at(-1)?.sequence ?? 0) + 1,
    region: world.region,
    clockNow: world.clock.now,
    scriptOf: machine.scriptOf,
    onToken: (token, owner) => world.tokens.set(token, owner),
  });
  machine.executions.push(execution);
  if (!isExpress) machine.byName.set(name, execution);
  return execution;
};

const prepare = (world: World, request: StartExecutionInput): MachineTarget & { name: string; input: string } => {
  const arn = requireText("stateMachineArn", request.stateMachineArn, 256);
  const { name = randomUUID(), input = "{}" } = request;
  checkName(name);
  checkPayload("input", input);
  const target = resolveMachine(world.machines, world.region, arn);
  if (target.machine.status === "DELETING") throw stateMachineDeleting(arn);
  return { ...target, name, input };
};

const checkOpen = ({ machines, openExecutions }: World): void => {
  const standard = [...machines.values()].filter(({ type }) => type === "STANDARD");
  // So that a start stays cheap where thousands are open and millions may be.
  if (standard.reduce((sum, { executions }) => sum + executions.length, 0) < openExecutions) return;
  const open = standard.flatMap(({ executions }) => executions.filter((one) => one.now().status === "RUNNING"));
  if (open.length >= openExecutions) throw executionLimitExceeded();
};

export const startExecution = (world: World, request: StartExecutionInput): StartExecutionOutput => {
  const { name, input, ...target } = prepare(world, request);
  const { machine } = target;
  const same = machine.byName.get(name);
  const now = world.clock.now();
  if (same !== undefined && !isForgotten(same, now)) {
    if (same.now().status !== "RUNNING" || same.input !== input) throw executionAlreadyExists(same.arn);
    return { executionArn: same.arn, startDate: new Date(same.startedAt) };
  }
  checkOpen(world);
  const execution = addExecution(world, target, name, input);
  return { executionArn: execution.arn, startDate: new Date(execution.startedAt) };
};

const untilEnded = async (world: World, execution: Execution, deadline: number, hungUp: AbortSignal): Promise<void> => {
  while (execution.now().stopAt === undefined) {
    if (world.clock.now() >= deadline) return execution.end({ status: "TIMED_OUT" });
    const ended = new AbortController();
    const signal = AbortSignal.any([hungUp, ended.signal]);
    const next = Math.min(execution.performance().nextAt(), deadline);
    try {
      await Promise.race([world.clock.until(next, signal), execution.ended]);
    } finally {
      ended.abort();
    }
  }
};

/** Answers with HTTP 200 however the execution ends, once it has. */
export const startSyncExecution = async (
  world: World,
  request: StartSyncExecutionInput,
  { signal }: ActionCall,
): Promise<StartSyncExecutionOutput> => {
  const { name, input, ...target } = prepare(world, request);
  if (target.machine.type !== "EXPRESS") throw stateMachineTypeNotSupported();
  const execution = addExecution(world, target, name, input);
  const deadline = execution.startedAt + syncMs;
  await untilEnded(world, execution, deadline, signal);
  const { status, output, error, cause, stopAt = deadline } = execution.now();
  return {
    executionArn: execution.arn,
    stateMachineArn: target.machine.arn,
    name,
    input,
    inputDetails: { included: true },
    startDate: new Date(execution.startedAt),
    stopDate: new Date(stopAt),
    status: status === "SUCCEEDED" || status === "FAILED" ? status : "TIMED_OUT",
    ...(output === undefined ? {} : { output, outputDetails: { included: true } }),
    ...(error === undefined ? {} : { error }),
    ...(cause === undefined ? {} : { cause }),
    billingDetails: { billedDurationInMilliseconds: stopAt - execution.startedAt, billedMemoryUsedInMB: 64 },
  };
};

/** Ends an execution at once, whatever it waits for. One that has ended stays as it is. */
export const stopExecution = (world: World, request: StopExecutionInput): StopExecutionOutput => {
  const arn = requireText("executionArn", request.executionArn);
  const { error, cause } = request;
  checkLength("error", error, 256);
  checkLength("cause", cause, 32_768);
  const execution = resolveExecution(world, arn);
  execution.end({
    status: "ABORTED",
    ...(error === undefined ? {} : { error }),
    ...(cause === undefined ? {} : { cause }),
  });
  return { stopDate: new Date(execution.now().stopAt ?? world.clock.now()) };
};

export const redriveExecution = (world: World, request: RedriveExecutionInput): RedriveExecutionOutput => {
  const execution = resolveExecution(world, requireText("executionArn", request.executionArn));
  const { redriveStatus, redriveStatusReason = "" } = toRedrive(execution.now(), execution.machine, world.clock.now());
  if (redriveStatus !== "REDRIVABLE") throw executionNotRedrivable(redriveStatusReason);
  return { redriveDate: new Date(execution.redrive().redriveAt ?? world.clock.now()) };
};

import { randomUUID } from "node:crypto";
import type { Call } from "../call.ts";
import { createExecution, type Execution } from "../execution.ts";
import { exhausted, failedPrecondition, invalidArgument } from "../google-error.ts";
import type { HistoryLevel, Workflow } from "../workflow.ts";
import { activate, countActive, resolveWorkflow, settleBacklog, toLocation, type World } from "../world.ts";
import { type ExecutionJson, toExecutionJson } from "./to-execution.ts";

export interface CreateInput {
  readonly argument?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly callLogLevel?: string;
  readonly executionHistoryLevel?: HistoryLevel;
  readonly disableConcurrencyQuotaOverflowBuffering?: boolean;
}

/** "The size limit is 32KB" (discovery document). That bytes of UTF-8 are counted and 32,768 of them are allowed is assumed. */
const maxArgumentBytes = 32_768;

/**
 * Each call makes another execution: there is no ID and no request ID to give, and the answer is all that tells the name.
 */
export const createOne = (
  world: World,
  call: Call,
): { readonly execution: Execution; readonly answer: ExecutionJson } => {
  const workflow = resolveWorkflow(world, call.resource);
  const input = readBody(call.body);
  checkArgument(input.argument);
  const labels = input.labels ?? {};
  checkLabels(labels);
  if (workflow.state === "UNAVAILABLE") throw failedPrecondition(`Workflow '${workflow.name}' is not active.`);
  const execution = addExecution(world, workflow, input);
  return { execution, answer: toExecutionJson(world, execution, execution.now(), "FULL") };
};

/** Adds an execution without asking anybody, for tests that need thousands. */
export const addExecution = (world: World, workflow: Workflow, input: CreateInput): Execution => {
  const location = toLocation(world, workflow.name);
  const isQueued = mustQueue(world, location, input);
  world.sequence += 1;
  const execution = createExecution({
    id: randomUUID(),
    argument: input.argument,
    // "By default, labels are inherited from the workflow but are overridden by any labels associated with the execution."
    labels: { ...workflow.labels, ...input.labels },
    createdAt: world.clock.now(),
    workflow,
    sequence: world.sequence,
    callLogLevel: input.callLogLevel,
    historyLevel:
      input.executionHistoryLevel ?? workflow.executionHistoryLevel ?? "EXECUTION_HISTORY_LEVEL_UNSPECIFIED",
    isQueued,
    clockNow: world.clock.now,
    onEnd: (ended) => world.active.get(location)?.delete(ended),
  });
  workflow.executions.push(execution);
  workflow.byId.set(execution.id, execution);
  for (const [key, value] of Object.entries(execution.labels)) {
    const label = `${key}=${value}`;
    const same = workflow.byLabel.get(label);
    if (same === undefined) workflow.byLabel.set(label, [execution]);
    else same.push(execution);
  }
  if (!isQueued) activate(world, location, execution);
  else if (world.queued.get(location)?.push(execution) === undefined) world.queued.set(location, [execution]);
  return execution;
};

/**
 * Beyond the quota of concurrent executions a start is backlogged, unless it says otherwise, and refused with 429 when it
 * does or when the backlog is full: https://cloud.google.com/workflows/quotas
 */
const mustQueue = (world: World, location: string, input: CreateInput): boolean => {
  settleBacklog(world, location);
  if (countActive(world, location) < world.maxActive) return false;
  const isFull = (world.queued.get(location)?.length ?? 0) >= world.maxQueued;
  if (isFull || input.disableConcurrencyQuotaOverflowBuffering === true)
    throw exhausted("Too many concurrent executions.");
  return true;
};

const readBody = (body: string): CreateInput => {
  let parsed: unknown;
  try {
    parsed = body === "" ? {} : JSON.parse(body);
  } catch {
    throw invalidArgument("Invalid JSON payload received.");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw invalidArgument("Invalid JSON payload received.");
  const { argument, labels = {} } = parsed as Readonly<Record<string, unknown>>;
  if (argument !== undefined && typeof argument !== "string")
    throw invalidArgument("Invalid value at 'execution.argument' (TYPE_STRING)");
  if (typeof labels !== "object" || labels === null || Object.values(labels).some((value) => typeof value !== "string"))
    throw invalidArgument("Invalid value at 'execution.labels'");
  return parsed as CreateInput;
};

const checkArgument = (argument: string | undefined): void => {
  if (argument === undefined || argument === "") return;
  const bytes = Buffer.byteLength(argument);
  if (bytes > maxArgumentBytes)
    throw invalidArgument(`Argument size of ${bytes} bytes exceeds the limit of ${maxArgumentBytes} bytes`);
  try {
    JSON.parse(argument);
  } catch {
    throw invalidArgument("Invalid JSON in 'argument'");
  }
};

/**
 * "At most 64 entries. Keys and values can be no longer than 63 characters and can only contain lowercase letters, numeric
 * characters, underscores, and dashes. Label keys must start with a letter. International characters are allowed."
 */
const checkLabels = (labels: Readonly<Record<string, string>>): void => {
  if (Object.keys(labels).length > 64) throw invalidArgument("labels: more than 64 entries");
  for (const [key, value] of Object.entries(labels)) {
    if (!/^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u.test(key)) throw invalidArgument(`Invalid label key: "${key}"`);
    if (!/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u.test(value)) throw invalidArgument(`Invalid label value: "${value}"`);
  }
};

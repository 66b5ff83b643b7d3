import { setTimeout as sleep } from "node:timers/promises";
import {
  type AdapterTraits,
  BridgeError,
  type CallContext,
  type ExecutionRef,
  isBridgeError,
  type OutputChunk,
  type OutputRange,
  type WorkflowAdapter,
} from "@taskbridge/core/adapter";
import type { SfnClient } from "./aws/client.ts";
import { type Quotas, regionalQuotas } from "./aws/quotas.ts";
import { sfnClient } from "./aws/sfn-client.ts";
import type { QueueClient } from "./events/queue-client.ts";
import { sqsClient } from "./events/sqs-client.ts";
import { watchQueue } from "./events/watch-queue.ts";
import { expressRuns } from "./express/express-runs.ts";
import { inspectExecutions } from "./inspection/inspect-executions.ts";
import { sweeps } from "./inspection/sweeps.ts";
import { machines } from "./machines.ts";
import { cutText } from "./mapping/cut-text.ts";
import { parseRef, toRef } from "./mapping/execution-arn.ts";
import { checkMachines } from "./operator/check-machines.ts";
import { discoverMachines } from "./operator/discover-machines.ts";
import { answerQuestion, tokenOf } from "./questions/answer-question.ts";
import { detailReader } from "./questions/detail-reader.ts";
import { type ParsedOptions, parseOptions, type StepFunctionsOptions } from "./settings/parse-options.ts";
import { parseTarget, type StepFunctionsTarget } from "./settings/parse-target.ts";
import { findStarted, shownWithinMs } from "./starts/find-started.ts";
import { maxPayloadBytes } from "./starts/prepare-start.ts";
import { startExecution } from "./starts/start-execution.ts";

/** AWS keeps an ended execution, and its name, for 90 days. */
const keptMs = 90 * 24 * 60 * 60 * 1_000;

/** Histories are read last, within the engine's own limit for a look (milliseconds). */
const detailsMs = 8_000;

const standardTraits: AdapterTraits = {
  start: { kind: "idempotent", forMs: keptMs, visibilityDelayMs: shownWithinMs },
  cancel: "confirmed",
  minInspectIntervalMs: 2_000,
  mustInspectWithinMs: keptMs,
  inspectBatch: 1_000,
  maxInspectCallsPerMinute: 100,
  maxPayloadBytes,
  retentionMs: keptMs,
  hostBound: false,
  questions: "form",
  progress: "counted",
};

const expressTraits: AdapterTraits = {
  start: { kind: "at-most-once" },
  cancel: "none",
  minInspectIntervalMs: 250,
  mustInspectWithinMs: null,
  inspectBatch: 1_000,
  maxPayloadBytes,
  // Of the output; the engine has it by then.
  retentionMs: 600_000,
  hostBound: false,
  questions: "none",
  progress: "none",
};

/** Part of an output, which AWS gives as a whole only. */
const readOutput = async (
  client: SfnClient,
  quotas: Quotas,
  ref: ExecutionRef,
  { offset, length }: OutputRange,
  { signal }: CallContext,
): Promise<OutputChunk> => {
  if (!(await quotas.describe.take(20_000, signal)))
    throw new BridgeError("throttled", "the account's rate of states:DescribeExecution does not suffice");
  const { output } = await client.describe(ref, signal);
  if (output === undefined) throw new BridgeError("not_found", "the execution has no output");
  const bytes = Buffer.from(output);
  return { bytes: bytes.subarray(offset, offset + length), totalBytes: bytes.length };
};

/** The longest reason (characters) that an execution is stopped with. */
const maxReasonLength = 1_000;

const stopExecution = async (
  client: SfnClient,
  ref: ExecutionRef,
  reason: string,
  signal: AbortSignal,
): Promise<void> => {
  try {
    const fault = { error: "Taskbridge.Cancelled", cause: cutText(reason, maxReasonLength) };
    await client.stop(parseRef(ref).arn, fault, signal);
  } catch (error) {
    if (!isBridgeError(error) || error.code !== "not_found") throw error;
    // It may have been started a moment ago.
    throw new BridgeError("unavailable", error.message, { notSent: true, cause: error });
  }
};

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal });

/** Puts state machines of AWS Step Functions behind MCP tasks. Throws `misconfigured`; calls AWS with the first task. */
export const stepFunctions = (given: StepFunctionsOptions = {}): WorkflowAdapter<StepFunctionsTarget> => {
  const options = parseOptions({ ...given });
  const { region, profile, queueUrl, queueEndpoint: endpoint } = options;
  const queue = queueUrl === undefined ? undefined : sqsClient({ queueUrl, region, endpoint, profile });
  return stepFunctionsOver(options, sfnClient(options), queue);
};

/** The adapter on clients that are there already. */
export const stepFunctionsOver = (
  { type, region, quotaShare }: Pick<ParsedOptions, "type" | "region" | "quotaShare">,
  client: SfnClient,
  queue: QueueClient | undefined,
): WorkflowAdapter<StepFunctionsTarget> => {
  const closing = new AbortController();
  const known = machines(client, type);
  const common = {
    contract: 1,
    kind: "step-functions",
    parseTarget: (target) => parseTarget(target, region),
    discover: (filter, context) => discoverMachines(client, type, filter, context, pause),
    check: (targets, { signal }) => checkMachines({ client, machines: known, queue, type }, targets, signal),
    close: async () => {
      closing.abort();
      client.close();
      queue?.close();
    },
  } satisfies Partial<WorkflowAdapter<StepFunctionsTarget>>;

  if (type === "express") return { ...common, traits: expressTraits, ...expressRuns(client, known, closing.signal) };

  const quotas = regionalQuotas(quotaShare);
  const details = detailReader(client, quotas);
  const tools = { client, quotas, details, detailsMs, sweeps: sweeps(client, quotas, closing.signal) };

  return {
    ...common,
    traits: standardTraits,
    start: (request, context) => startExecution({ client, machines: known, quotas }, request, context),
    inspect: (items, context) => inspectExecutions(tools, items, context),
    cancel: (ref, reason, { signal }) => stopExecution(client, ref, reason, signal),
    answer: (ref, request, context) => {
      const location = parseRef(ref);
      return answerQuestion(client, quotas(location.arn), location, request, context);
    },
    heartbeat: (_ref, question, { signal }) => client.keepTask(tokenOf(question), signal),
    find: async (request, { signal }) => {
      const found = await findStarted(client, known, request, signal);
      return found === undefined ? undefined : toRef(found.arn);
    },
    readOutput: (ref, range, context) => readOutput(client, quotas(parseRef(ref).arn), ref, range, context),
    ...(queue === undefined
      ? {}
      : { watch: (request, context) => watchQueue(queue, request, { hurry: details.hurry, pause }, context) }),
  };
};

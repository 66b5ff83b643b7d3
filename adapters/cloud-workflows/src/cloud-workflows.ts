import { setTimeout as sleep } from "node:timers/promises";
import {
  type AdapterTraits,
  BridgeError,
  type CallContext,
  type ExecutionRef,
  type OutputChunk,
  type OutputRange,
  toBridgeError,
  type WorkflowAdapter,
} from "@taskbridge/core/adapter";
import type { GcwClient } from "./google/client.ts";
import { executionsClient } from "./google/executions-client.ts";
import { quotasOf } from "./google/quotas.ts";
import type { TokenBucket } from "./google/token-bucket.ts";
import { inspectExecutions } from "./inspection/inspect-executions.ts";
import { stepLists } from "./inspection/step-lists.ts";
import { sweeps } from "./inspection/sweeps.ts";
import { consoleUrlOf, parseRef } from "./mapping/execution-name.ts";
import { checkWorkflows } from "./operator/check-workflows.ts";
import { discoverWorkflows } from "./operator/discover-workflows.ts";
import { answerQuestion } from "./questions/answer-question.ts";
import { detailReader } from "./questions/detail-reader.ts";
import { type CloudWorkflowsOptions, type ParsedOptions, parseOptions } from "./settings/parse-options.ts";
import { type CloudWorkflowsTarget, parseTarget } from "./settings/parse-target.ts";
import { findExecution, maxPayloadBytes, startExecution } from "./start.ts";

/** Google keeps an ended execution for 90 days: https://cloud.google.com/workflows/quotas */
const keptMs = 90 * 24 * 60 * 60 * 1_000;
/** A list may show an execution a little later than it was made; how much later is not published (milliseconds). */
const visibilityDelayMs = 60_000;
/** A list that takes longer is not waited for (milliseconds). */
const listMs = 12_000;
/** Ends are read in turn for so long in one look (milliseconds). */
const readMs = 2_000;
/** Callbacks are read last, within the engine's own limit for a look (milliseconds). */
const detailsMs = 8_000;

const traits: AdapterTraits = {
  start: { kind: "findable", visibilityDelayMs, windowMs: keptMs },
  cancel: "requested",
  minInspectIntervalMs: 2_000,
  mustInspectWithinMs: keptMs,
  inspectBatch: 1_000,
  maxInspectCallsPerMinute: 600,
  maxPayloadBytes,
  retentionMs: keptMs,
  hostBound: false,
  questions: "form",
  progress: "text",
};

/** Part of a result, which Google gives as a whole only. */
const readOutput = async (
  client: GcwClient,
  rate: TokenBucket,
  ref: ExecutionRef,
  { offset, length }: OutputRange,
  { signal }: CallContext,
): Promise<OutputChunk> => {
  const { name } = parseRef(ref);
  if (!(await rate.take(20_000, signal)))
    throw new BridgeError("throttled", "the project's rate of workflows.executions.get does not suffice");
  const { result } = await client.get(name, signal);
  if (result === undefined) throw new BridgeError("not_found", "the execution has no result");
  const bytes = Buffer.from(result);
  return { bytes: bytes.subarray(offset, offset + length), totalBytes: bytes.length };
};

const cancel = async (client: GcwClient, ref: ExecutionRef, { signal }: CallContext): Promise<void> => {
  try {
    await client.cancel(parseRef(ref).name, signal);
  } catch (error) {
    const known = toBridgeError(error);
    // It has ended already.
    if (known.code === "conflict") return;
    // It may have been started a moment ago.
    if (known.code === "not_found")
      throw new BridgeError("unavailable", known.message, { notSent: true, cause: error });
    throw known;
  }
};

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal });

/** Puts workflows of Google Cloud behind MCP tasks. Throws `misconfigured`; calls Google with the first task. */
export const cloudWorkflows = (options: CloudWorkflowsOptions): WorkflowAdapter<CloudWorkflowsTarget> =>
  cloudWorkflowsFrom(parseOptions({ ...options }));

/** The adapter of options that were checked. */
export const cloudWorkflowsFrom = (options: ParsedOptions): WorkflowAdapter<CloudWorkflowsTarget> =>
  cloudWorkflowsOver(options, executionsClient(options));

export type CoreOptions = Pick<ParsedOptions, "project" | "location" | "endpoint" | "questions" | "quotaShare">;

/** The adapter on a client that is there already. */
export const cloudWorkflowsOver = (
  { project, location, endpoint, questions, quotaShare }: CoreOptions,
  client: GcwClient,
): WorkflowAdapter<CloudWorkflowsTarget> => {
  const parent = { project, location };
  const closing = new AbortController();
  const quotas = quotasOf(quotaShare);
  const urlOf = endpoint?.protocol === "http:" ? () => undefined : consoleUrlOf;
  const details = detailReader(client, quotas, questions);
  const answerTools = { client, rate: quotas.detail, unsent: new Map() };
  const statuses = sweeps(client, quotas.list, closing.signal);
  const tools = {
    client,
    quotas,
    details,
    listMs,
    readMs,
    detailsMs,
    urlOf,
    sweeps: statuses,
    stepLists: stepLists({
      client,
      rate: quotas.list,
      note: details.note,
      lastListed: statuses.lastListed,
      closing: closing.signal,
    }),
  };

  return {
    contract: 1,
    kind: "cloud-workflows",
    traits,
    parseTarget: (target) => parseTarget(target, parent),
    start: (request, context) => startExecution(client, parent, request, urlOf, context),
    inspect: (items, context) => inspectExecutions(tools, items, context),
    cancel: (ref, _reason, context) => cancel(client, ref, context),
    answer: async (ref, request, context) => answerQuestion(answerTools, parseRef(ref).name, request, context),
    find: (request, context) => findExecution(client, quotas.list, parent, request, context),
    readOutput: (ref, range, context) => readOutput(client, quotas.get, ref, range, context),
    discover: (filter, context) => discoverWorkflows(client, parent, filter, context, pause),
    check: (targets, { signal }) => checkWorkflows(client, { ...parent, questions }, targets, signal),
    close: async () => {
      closing.abort();
      client.close();
    },
  };
};

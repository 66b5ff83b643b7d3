import {
  BridgeError,
  type CallContext,
  type ExecutionRef,
  type FindRequest,
  type StartOutcome,
  type StartRequest,
} from "@taskbridge/core/adapter";
import type { Execution, GcwClient } from "./google/client.ts";
import type { TokenBucket } from "./google/token-bucket.ts";
import type { UrlOf } from "./inspect.ts";
import { executionNameOf, parseRef, toRef } from "./mapping/execution-name.ts";
import { toSnapshot } from "./mapping/to-snapshot.ts";
import {
  type CloudWorkflowsTarget,
  originLabel,
  type Parent,
  runLabel,
  workflowNameOf,
} from "./settings/parse-target.ts";

/** The largest argument (bytes): https://cloud.google.com/workflows/quotas */
export const maxPayloadBytes = 32_768;

/** How far clocks may differ (milliseconds). */
const slackMs = 60_000;
/** How long a page waits for its turn (milliseconds). */
const waitMs = 10_000;
/** More is read only of a server that takes no filter. */
const mostPages = 20;

/** Starts an execution that has the key as a label: Google takes no name for one, so that sent again it would be another. */
export const startExecution = async (
  client: GcwClient,
  parent: Parent,
  { key, target, input }: StartRequest<CloudWorkflowsTarget>,
  urlOf: UrlOf,
  { signal }: CallContext,
): Promise<StartOutcome> => {
  const bytes = Buffer.byteLength(input);
  if (bytes > maxPayloadBytes)
    throw new BridgeError("invalid_input", `the input has ${bytes} bytes; Workflows takes ${maxPayloadBytes}`, {
      notSent: true,
    });
  const workflow = workflowNameOf(target, parent);
  const made = await client.create(
    workflow,
    { argument: input, labels: { ...target.labels, ...originLabel, [runLabel]: key } },
    signal,
  );
  const name = executionNameOf(workflow, made.name);
  // It is there, and is found by its label.
  if (name === undefined) throw new BridgeError("outcome_unknown", "Google's answer does not name the execution");
  const ref = toRef(name);
  const snapshot = toSnapshot(made, urlOf(parseRef(ref)));
  return { ref, ...(snapshot === undefined ? {} : { snapshot }) };
};

const startOf = ({ startedAt = Number.POSITIVE_INFINITY }: Execution): number => startedAt;

/** The execution that has this key as its label; the oldest of several, which a start that was told to be repeated may leave. */
export const findExecution = async (
  client: GcwClient,
  rate: TokenBucket,
  parent: Parent,
  { key, target, firstSentAt }: FindRequest<CloudWorkflowsTarget>,
  { signal }: CallContext,
): Promise<ExecutionRef | undefined> => {
  const workflow = workflowNameOf(target, parent);
  const filter = `labels."${runLabel}":"${key}"`;
  const found: Execution[] = [];
  let token: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    if (!(await rate.take(waitMs, signal)))
      throw new BridgeError("throttled", "the project's rate of workflows.executions.list does not suffice", {
        notSent: true,
        retryAfterMs: 1_000,
      });
    const paging = { size: 100, ...(token === undefined ? {} : { token }) };
    const { rows, next } = await client.list(workflow, { view: "FULL", filter, ...paging }, signal);
    // A server that takes no filter gives everybody's.
    found.push(...rows.filter(({ labels }) => labels[runLabel] === key));
    token = next;
    if (token === undefined || rows.some((row) => startOf(row) < firstSentAt - slackMs)) break;
  }
  const [oldest] = found.sort((one, other) => startOf(one) - startOf(other));
  const name = oldest === undefined ? undefined : executionNameOf(workflow, oldest.name);
  return name === undefined ? undefined : toRef(name);
};

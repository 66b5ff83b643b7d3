import {
  BridgeError,
  type CallContext,
  type ExecutionRef,
  type FindRequest,
  isEnded,
  isTemplate,
  type StartOutcome,
  type StartRequest,
} from "@taskbridge/core/adapter";
import type { Execution, GcwClient } from "./google/client.ts";
import type { TokenBucket } from "./google/token-bucket.ts";
import type { UrlOf } from "./inspection/inspect-executions.ts";
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

/** How long a page waits for its turn (milliseconds). */
const waitMs = 10_000;
/** One page has all that the filter leaves; more is read of a server that takes no filter, or gives pages with nothing in them. */
const maxPages = 20;

/** A caller's value may look like a placeholder; after they were filled in there is none. */
const refuseTemplates = ({ workflow, labels = {} }: CloudWorkflowsTarget): void => {
  if ([workflow, ...Object.values(labels)].some(isTemplate))
    throw new BridgeError("invalid_input", "{{input.…}} is no name of a workflow, and no label", { notSent: true });
};

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
  refuseTemplates(target);
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
  // An end is told with its result or its error, which this answer need not have.
  return { ref, ...(snapshot === undefined || isEnded(snapshot.status) ? {} : { snapshot }) };
};

/**
 * Those that wait in the backlog have no start, and are younger than those that have. A list has the newest first, whatever clock says so:
 * of two alike, the one that comes later is older.
 */
const oldestOf = (listed: readonly Execution[]): Execution | undefined =>
  listed.reduce<Execution | undefined>((oldest, one) => {
    const latest = Number.POSITIVE_INFINITY;
    return oldest !== undefined && (one.startedAt ?? latest) > (oldest.startedAt ?? latest) ? oldest : one;
  }, undefined);

/**
 * The execution that has this key as its label; the oldest of several, which a start that was told to be repeated may leave. That there is
 * none is told only once everything has been listed; `unavailable` before that. When it was sent does not matter: Google's clock is another.
 */
export const findExecution = async (
  client: Pick<GcwClient, "list">,
  rate: TokenBucket,
  parent: Parent,
  { key, target }: FindRequest<CloudWorkflowsTarget>,
  { signal }: CallContext,
): Promise<ExecutionRef | undefined> => {
  const workflow = workflowNameOf(target, parent);
  const filter = `labels."${runLabel}":"${key}"`;
  const found: Execution[] = [];
  let token: string | undefined;
  for (let page = 0; page < maxPages; page++) {
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
    if (token === undefined) break;
  }
  const oldest = oldestOf(found);
  // An older one may lie behind, but it was told to be repeated then, and any of them will do.
  const name = oldest === undefined ? undefined : executionNameOf(workflow, oldest.name);
  if (name !== undefined) return toRef(name);
  if (token === undefined && oldest === undefined) return undefined;
  throw new BridgeError("unavailable", `it is not among the first ${maxPages} pages of the workflow's executions`);
};

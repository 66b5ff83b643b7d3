import type { Call } from "../call.ts";
import type { Execution } from "../execution.ts";
import { notFound } from "../google-error.ts";
import { readPage, readPageSize } from "../page.ts";
import { type FieldSet, toPredicate } from "../query/match-filter.ts";
import { parseOrderBy } from "../query/order-by.ts";
import { parseFilter } from "../query/parse-filter.ts";
import type { StepEntry } from "../step-entries.ts";
import { toTimestamp } from "../timestamp.ts";
import { resolveExecution, type World } from "../world.ts";
import { toExecutionName } from "./to-execution.ts";

/** "Supported for filtering", discovery document. */
const filterable: FieldSet<StepEntry> = {
  fields: {
    entryId: { kind: "number", read: ({ entryId }) => [entryId] },
    createTime: { kind: "time", read: ({ createdAt }) => [createdAt] },
    updateTime: { kind: "time", read: ({ updatedAt }) => [updatedAt] },
    routine: { kind: "text", read: ({ routine }) => [routine] },
    step: { kind: "text", read: ({ step }) => [step] },
    stepType: { kind: "enum", read: ({ stepType }) => [stepType] },
    parent: { kind: "number", read: ({ parent }) => (parent === undefined ? [] : [parent]) },
    // The documented example asks for `state="SUCCEEDED"`, the entries say `STATE_SUCCEEDED`: either is taken.
    state: { kind: "enum", read: ({ state }) => [state, state.replace("STATE_", "")] },
  },
};

const orderable: Readonly<Record<string, (entry: StepEntry) => string | number>> = {
  entryId: ({ entryId }) => entryId,
  createTime: ({ createdAt }) => createdAt,
  updateTime: ({ updatedAt }) => updatedAt,
  routine: ({ routine }) => routine,
  step: ({ step }) => step,
  stepType: ({ stepType }) => stepType,
  state: ({ state }) => state,
};

const entriesOf = (execution: Execution): readonly StepEntry[] =>
  execution.workflow.keepsHistory === false ? [] : (execution.performance()?.entries ?? []);

/**
 * "By default, no execution history level is specified and Basic step entries are returned":
 * https://cloud.google.com/workflows/docs/debug-steps. "The default max is 1000" a page (discovery document).
 */
export const listStepEntries = (world: World, { resource, query }: Call): object => {
  const execution = resolveExecution(world, resource);
  const text = query.get("filter") ?? "";
  const orderBy = query.get("orderBy") ?? "";
  const accepts = text.trim() === "" ? () => true : toPredicate(parseFilter(text), filterable);
  const all = entriesOf(execution).filter(accepts);
  if (orderBy.trim() !== "") all.sort(parseOrderBy(orderBy, orderable));
  const pages = readPage([resource, text, orderBy], query.get("pageToken"));
  const from = (pages.from ?? 0) + readPageSize(query.get("skip"), 0, Number.POSITIVE_INFINITY);
  const end = from + readPageSize(query.get("pageSize"), 1_000, 1_000);
  const page = all.slice(from, end);
  return {
    ...(page.length === 0 ? {} : { stepEntries: page.map((entry) => toEntryJson(world, execution, entry)) }),
    ...(end < all.length ? { nextPageToken: pages.next(end) } : {}),
    ...(all.length === 0 ? {} : { totalSize: all.length }),
  };
};

export const getStepEntry = (world: World, { resource }: Call): object => {
  const id = resource.split("/").at(-1);
  const execution = resolveExecution(world, resource);
  const entry = entriesOf(execution).find(({ entryId }) => String(entryId) === id);
  if (entry === undefined) throw notFound();
  return toEntryJson(world, execution, entry);
};

/** In-scope variables and expected iterations are there only where the history is detailed (debug-steps). */
const toEntryJson = (world: World, execution: Execution, entry: StepEntry): object => {
  const { entryId, exception, variables } = entry;
  const isDetailed = execution.historyLevel === "EXECUTION_HISTORY_DETAILED";
  return {
    name: `${toExecutionName(world, execution)}/stepEntries/${entryId}`,
    createTime: toTimestamp(entry.createdAt, execution.nanos),
    updateTime: toTimestamp(entry.updatedAt, execution.nanos),
    routine: entry.routine,
    step: entry.step,
    stepType: entry.stepType,
    state: entry.state,
    ...(exception === undefined ? {} : { exception: { payload: JSON.stringify(exception) } }),
    entryId: String(entryId),
    navigationInfo: toNavigation(entry),
    stepEntryMetadata: toMetadata(entry, isDetailed),
    ...(isDetailed ? { variableData: { variables } } : {}),
  };
};

const toNavigation = ({ parent, previous, next, children }: StepEntry): object => ({
  ...(parent === undefined ? {} : { parent: String(parent) }),
  ...(previous === undefined ? {} : { previous: String(previous) }),
  ...(next === undefined ? {} : { next: String(next) }),
  ...(children.length === 0 ? {} : { children: children.map(String) }),
});

const toMetadata = ({ progress, threadId }: StepEntry, isDetailed: boolean): object => ({
  ...(progress === undefined
    ? {}
    : {
        progressType: progress.type,
        progressNumber: String(progress.number),
        ...(isDetailed ? { expectedIteration: String(progress.expected) } : {}),
      }),
  ...(threadId === undefined ? {} : { threadId }),
});

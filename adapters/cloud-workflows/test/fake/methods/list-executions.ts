import type { Call } from "../call.ts";
import type { Execution, ExecutionView } from "../execution.ts";
import { invalidArgument } from "../google-error.ts";
import { JsonText } from "../json-text.ts";
import { readPage, readPageSize } from "../page.ts";
import { type FieldSet, type Predicate, toPredicate } from "../query/match-filter.ts";
import { parseOrderBy } from "../query/order-by.ts";
import { type Filter, parseFilter } from "../query/parse-filter.ts";
import type { Workflow } from "../workflow.ts";
import { isForgotten, resolveWorkflow, settleBacklog, toLocation, type World } from "../world.ts";
import { toExecutionText, type ViewName } from "./to-execution.ts";

interface Listed {
  readonly execution: Execution;
  readonly view: ExecutionView;
}

/** "Supported for filtering", discovery document. That `label` of that list is written `labels.KEY`, as the member is, is assumed. */
const filterable: FieldSet<Listed> = {
  fields: {
    executionId: { kind: "text", read: ({ execution }) => [execution.id] },
    state: { kind: "enum", read: ({ view }) => [view.state] },
    createTime: { kind: "time", read: ({ execution }) => [execution.createdAt] },
    startTime: { kind: "time", read: ({ view }) => toList(view.startedAt) },
    endTime: { kind: "time", read: ({ view }) => toList(view.endedAt) },
    duration: { kind: "duration", read: ({ view }) => toList(toMs(view)) },
    workflowRevisionId: { kind: "text", read: ({ execution }) => [execution.revisionId] },
    stepName: {
      kind: "text",
      read: ({ execution }) => (execution.performance()?.currentSteps() ?? []).map(({ step }) => step),
    },
  },
  maps: { labels: ({ execution }) => execution.labels },
};

const toList = (value: number | undefined): readonly number[] => (value === undefined ? [] : [value]);

const toMs = ({ startedAt, endedAt }: ExecutionView): number | undefined =>
  startedAt === undefined || endedAt === undefined ? undefined : endedAt - startedAt;

/** "Supported for ordering", discovery document. */
const orderable: Readonly<Record<string, (item: Listed) => string | number>> = {
  executionId: ({ execution }) => execution.id,
  state: ({ view }) => view.state,
  createTime: ({ execution }) => execution.sequence,
  startTime: ({ view }) => view.startedAt ?? Number.POSITIVE_INFINITY,
  endTime: ({ view }) => view.endedAt ?? Number.POSITIVE_INFINITY,
  duration: ({ view }) => toMs(view) ?? -1,
  workflowRevisionId: ({ execution }) => execution.revisionId,
};

/** Default and most of a page, by view (discovery document). */
const usualPage = 100;
const maxPage = { BASIC: 1_000, FULL: 100 } as const;

export const listExecutions = (world: World, { resource, query }: Call): JsonText => {
  const workflow = resolveWorkflow(world, resource);
  settleBacklog(world, toLocation(world, resource));
  const wanted = readView(query.get("view"), "BASIC");
  const size = readPageSize(query.get("pageSize"), usualPage, maxPage[wanted]);
  const filterText = query.get("filter") ?? "";
  const orderBy = query.get("orderBy") ?? "";
  const pages = readPage([resource, wanted, filterText, orderBy], query.get("pageToken"));
  const filter = filterText.trim() === "" ? undefined : parseFilter(filterText);
  const { page, next } =
    orderBy.trim() === ""
      ? newestFirst(select(world, workflow, filter, pages.from), size)
      : inOrder([...select(world, workflow, filter)].sort(parseOrderBy(orderBy, orderable)), pages.from, size);
  const texts = page.map(({ execution, view }) => toExecutionText(world, execution, view, wanted));
  return new JsonText([
    ...(page.length === 0 ? [] : [`"executions":[${texts.join(",")}]`]),
    ...(next === undefined ? [] : [`"nextPageToken":"${pages.next(next)}"`]),
  ]);
};

/** From the newest to the oldest, as far as the list already tells of them. */
function* select(
  world: World,
  workflow: Workflow,
  filter: Filter | undefined,
  before: number = Number.POSITIVE_INFINITY,
): Generator<Listed> {
  const accepts: Predicate<Listed> = filter === undefined ? () => true : toPredicate(filter, filterable);
  const candidates = narrow(workflow, filter);
  const now = world.clock.now();
  for (let index = countBefore(candidates, before) - 1; index >= 0; index -= 1) {
    const execution = candidates[index] as Execution;
    const view = execution.viewAt(now - world.lag.listMs);
    if (view === undefined || isForgotten(execution, now)) continue;
    const item = { execution, view };
    if (accepts(item)) yield item;
  }
}

/** How many of them, which are in order, come before a place in it. */
const countBefore = (executions: readonly Execution[], before: number): number => {
  let [low, high] = [0, executions.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((executions[middle] as Execution).sequence < before) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** A label that all must have is looked up. */
const narrow = (workflow: Workflow, filter: Filter | undefined): readonly Execution[] => {
  const parts = filter?.kind === "and" ? filter.parts : filter === undefined ? [] : [filter];
  for (const part of parts)
    if (part.kind === "restriction" && part.path[0] === "labels" && part.path.length === 2)
      if (part.comparator === "=" || (part.comparator === ":" && part.value !== "*"))
        return workflow.byLabel.get(`${part.path[1]}=${part.value}`) ?? [];
  return workflow.executions;
};

interface Page {
  readonly page: readonly Listed[];
  readonly next: number | undefined;
}

/** A token means the last one shown, so that what begins in between moves nothing. */
const newestFirst = (items: Iterable<Listed>, size: number): Page => {
  const page: Listed[] = [];
  for (const item of items) {
    if (page.length === size) return { page, next: page.at(-1)?.execution.sequence };
    page.push(item);
  }
  return { page, next: undefined };
};

const inOrder = (items: readonly Listed[], from: number | undefined, size: number): Page => {
  const end = (from ?? 0) + size;
  return { page: items.slice(from ?? 0, end), next: end < items.length ? end : undefined };
};

export const readView = (text: string | null, usual: ViewName): ViewName => {
  // The guide's examples write it in small letters; numbers are the enum's.
  const name = text?.toUpperCase() ?? "EXECUTION_VIEW_UNSPECIFIED";
  if (name === "BASIC" || name === "1") return "BASIC";
  if (name === "FULL" || name === "2") return "FULL";
  if (name === "EXECUTION_VIEW_UNSPECIFIED" || name === "0" || name === "") return usual;
  throw invalidArgument(
    `Invalid value at 'view' (type.googleapis.com/google.cloud.workflows.executions.v1.ExecutionView), "${text}"`,
  );
};

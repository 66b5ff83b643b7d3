import type { Call } from "../call.ts";
import { readPage, readPageSize } from "../page.ts";
import { type FieldSet, toPredicate } from "../query/match-filter.ts";
import { parseFilter } from "../query/parse-filter.ts";
import { toTimestamp } from "../timestamp.ts";
import type { Workflow } from "../workflow.ts";
import { resolveWorkflow, toAnswerName, toLocation, type World } from "../world.ts";

const filterable: FieldSet<Workflow> = {
  fields: {
    state: { kind: "enum", read: ({ state = "ACTIVE" }) => [state] },
    createTime: { kind: "time", read: ({ createdAt }) => [createdAt] },
  },
  maps: { labels: ({ labels = {} }) => labels },
};

/** "A default value of 500 is used. The maximum permitted value is 1000 and values greater are coerced down" (discovery). */
export const listWorkflows = (world: World, { resource, query }: Call): object => {
  const where = toLocation(world, resource);
  const text = query.get("filter") ?? "";
  const accepts = text.trim() === "" ? () => true : toPredicate(parseFilter(text), filterable);
  const all = [...world.workflows.values()].filter((one) => `${one.project}/${one.location}` === where && accepts(one));
  const pages = readPage([resource, text], query.get("pageToken"));
  const from = pages.from ?? 0;
  const end = from + readPageSize(query.get("pageSize"), 500, 1_000);
  const page = all.slice(from, end);
  return {
    ...(page.length === 0 ? {} : { workflows: page.map((one) => toWorkflowJson(world, one)) }),
    ...(end < all.length ? { nextPageToken: pages.next(end) } : {}),
  };
};

export const getWorkflow = (world: World, { resource }: Call): object =>
  toWorkflowJson(world, resolveWorkflow(world, resource));

const toWorkflowJson = (world: World, workflow: Workflow): object => {
  const { name, description, labels = {}, createdAt, revisionId, sourceContents, executionHistoryLevel } = workflow;
  const at = toTimestamp(createdAt, 123_456);
  return {
    name: toAnswerName(world, name),
    state: workflow.state ?? "ACTIVE",
    revisionId,
    createTime: at,
    updateTime: at,
    revisionCreateTime: at,
    serviceAccount: `projects/${workflow.project}/serviceAccounts/runner@${workflow.project}.iam.gserviceaccount.com`,
    ...(description === undefined ? {} : { description }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(sourceContents === undefined ? {} : { sourceContents }),
    ...(executionHistoryLevel === undefined ? {} : { executionHistoryLevel }),
  };
};

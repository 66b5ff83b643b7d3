import { isObject, isTemplate, misconfigured, refuseOtherMembers, showValue } from "@taskbridge/core/adapter";

/** The workflow of a tool. Frozen into each task, so that it is JSON and always has the same form. */
export interface CloudWorkflowsTarget {
  /** Its name in the adapter's project and location. May hold `{{input.x}}`. */
  readonly workflow: string;
  /** Labels of its executions, beside ours. Values may hold `{{input.x}}`. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Where an adapter calls. */
export interface Parent {
  readonly project: string;
  readonly location: string;
}

/** Our own label, which holds the start key. */
export const runLabel = "mcp_run";
/** What all executions have that are started here, so that lists can leave out everybody else's. */
export const originLabel = { mcp_by: "taskbridge" } as const;

const workflowName = /^[a-zA-Z][\w-]{0,63}$/;
const resourceName = /^projects\/([^/]+)\/locations\/([^/]+)\/workflows\/([^/]+)$/;
/** https://cloud.google.com/workflows/docs/reference/executions/rest/v1/projects.locations.workflows.executions#Execution */
const labelKey = /^\p{Ll}[\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const labelValue = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;
const ownLabels: readonly string[] = [runLabel, ...Object.keys(originLabel)];
const maxLabels = 64 - ownLabels.length;

export const parentOf = ({ project, location }: Parent): string => `projects/${project}/locations/${location}`;

/** The workflow's resource name. */
export const workflowNameOf = ({ workflow }: CloudWorkflowsTarget, parent: Parent): string =>
  `${parentOf(parent)}/workflows/${workflow}`;

const parseWorkflow = (value: unknown, parent: Parent): string => {
  if (typeof value !== "string") throw misconfigured("workflow", `must be a workflow's name, got ${showValue(value)}`);
  const [, project, location, name] = resourceName.exec(value) ?? [];
  if (name !== undefined && (project !== parent.project || location !== parent.location))
    throw misconfigured(
      "workflow",
      `is in ${project}, ${location}, and this adapter calls ${parent.project}, ${parent.location}`,
    );
  const workflow = name ?? value;
  if (workflowName.test(workflow) || (isTemplate(workflow) && !workflow.includes("/"))) return workflow;
  throw misconfigured(
    "workflow",
    `must be a workflow's name or projects/…/locations/…/workflows/…, got ${showValue(value)}`,
  );
};

const parseLabels = (value: unknown): Readonly<Record<string, string>> => {
  if (!isObject(value)) throw misconfigured("labels", `must be a map of texts, got ${showValue(value)}`);
  const entries = Object.entries(value);
  if (entries.length > maxLabels)
    throw misconfigured("labels", `at most ${maxLabels} beside ${ownLabels.join(" and ")}`);
  const labels = entries.map(([key, text]): [string, string] => {
    if (ownLabels.includes(key) || !labelKey.test(key))
      throw misconfigured(
        `labels.${key}`,
        "a key begins with a lowercase letter and has lowercase letters, digits, _ and -, at most 63",
      );
    const label = typeof text === "number" || typeof text === "boolean" ? String(text) : text;
    if (typeof label === "string" && (labelValue.test(label) || isTemplate(label))) return [key, label];
    throw misconfigured(
      `labels.${key}`,
      `must have lowercase letters, digits, _ and -, at most 63, got ${showValue(text)}`,
    );
  });
  return Object.fromEntries(labels.sort(([one], [other]) => (one < other ? -1 : 1)));
};

/** Checks the shape of a target. `parent`: where the adapter calls. Throws `misconfigured` with `data.path`. */
export const parseTarget = (target: unknown, parent: Parent): CloudWorkflowsTarget => {
  if (!isObject(target)) throw misconfigured("", `must be { workflow, labels? }, got ${showValue(target)}`);
  refuseOtherMembers(target, ["workflow", "labels"], "", "unknown member");
  const workflow = parseWorkflow(target.workflow, parent);
  return { workflow, ...(target.labels === undefined ? {} : { labels: parseLabels(target.labels) }) };
};

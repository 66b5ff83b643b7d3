/** Methods of the two APIs that the fake plays, with the permission that each needs (the reference page of each method). */
export const permissions = {
  createExecution: "workflows.executions.create",
  getExecution: "workflows.executions.get",
  listExecutions: "workflows.executions.list",
  cancelExecution: "workflows.executions.cancel",
  listCallbacks: "workflows.callbacks.list",
  sendHttpCallback: "workflows.callbacks.send",
  listStepEntries: "workflows.stepEntries.list",
  getStepEntry: "workflows.stepEntries.get",
  getWorkflow: "workflows.workflows.get",
  listWorkflows: "workflows.workflows.list",
} as const;

export type MethodName = keyof typeof permissions;

const workflow = "projects/[^/]+/locations/[^/]+/workflows/[^/:]+";
const execution = `${workflow}/executions/[^/:]+`;

/** Paths as in the discovery documents of workflowexecutions v1 and workflows v1. */
const routes: readonly (readonly [method: MethodName, httpMethod: string | undefined, path: RegExp])[] = [
  ["createExecution", "POST", new RegExp(`^/v1/(${workflow})/executions$`)],
  ["listExecutions", "GET", new RegExp(`^/v1/(${workflow})/executions$`)],
  ["getExecution", "GET", new RegExp(`^/v1/(${execution})$`)],
  ["cancelExecution", "POST", new RegExp(`^/v1/(${execution}):cancel$`)],
  ["listCallbacks", "GET", new RegExp(`^/v1/(${execution})/callbacks$`)],
  // "NONE https://…/callbacks/{callbackId}": any HTTP method. Under the singular of a resource's name there is nothing.
  ["sendHttpCallback", undefined, new RegExp(`^/v1/(${execution}/callbacks/[^/:]+)$`)],
  ["listStepEntries", "GET", new RegExp(`^/v1/(${execution})/stepEntries$`)],
  ["getStepEntry", "GET", new RegExp(`^/v1/(${execution}/stepEntries/[^/:]+)$`)],
  ["getWorkflow", "GET", new RegExp(`^/v1/(${workflow})$`)],
  ["listWorkflows", "GET", /^\/v1\/(projects\/[^/]+\/locations\/[^/]+)\/workflows$/],
];

export const findRoute = (
  httpMethod: string,
  path: string,
): { readonly method: MethodName; readonly resource: string } | undefined => {
  for (const [method, wanted, pattern] of routes) {
    const resource = wanted === undefined || wanted === httpMethod ? pattern.exec(path)?.[1] : undefined;
    if (resource !== undefined) return { method, resource: decodeURIComponent(resource) };
  }
  return undefined;
};

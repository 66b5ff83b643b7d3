import { asExecutionRef, BridgeError, type ExecutionRef } from "@taskbridge/core/adapter";

/** An execution's resource name taken apart. */
export interface ExecutionLocation {
  readonly name: string;
  readonly project: string;
  readonly location: string;
  /** The workflow's resource name. */
  readonly workflow: string;
  readonly workflowId: string;
  readonly id: string;
}

const executionName = /^(projects\/([\w.:-]+)\/locations\/([\w-]+)\/workflows\/([\w-]+))\/executions\/([\w-]+)$/;

const parseExecutionName = (name: string): ExecutionLocation | undefined => {
  const [, workflow, project, location, workflowId, id] = executionName.exec(name) ?? [];
  if (workflow === undefined || project === undefined || location === undefined) return undefined;
  return { name, project, location, workflow, workflowId: workflowId ?? "", id: id ?? "" };
};

/**
 * The name that this adapter knows an execution by. Google gives names with the project's number where it was called with the project's
 * ID, so that only what stands behind `/executions/` is taken. Undefined for what is no name of an execution.
 */
export const executionNameOf = (workflow: string, givenName: string): string | undefined => {
  const id = parseExecutionName(givenName)?.id;
  return id === undefined ? undefined : `${workflow}/executions/${id}`;
};

/** A ref of ours is the name, so that an operator can adopt an execution by it. */
export const toRef = (name: string): ExecutionRef => asExecutionRef(name);

export const parseRef = (ref: ExecutionRef): ExecutionLocation => {
  const where = parseExecutionName(ref);
  if (where !== undefined) return where;
  const message = `not an execution's name (projects/…/locations/…/workflows/…/executions/…): ${ref.slice(0, 100)}`;
  throw new BridgeError("invalid_input", message, { data: { path: "ref" } });
};

/** The execution's page in Google's console. */
export const consoleUrlOf = ({ project, location, workflowId, id }: ExecutionLocation): string =>
  `https://console.cloud.google.com/workflows/workflow/${location}/${workflowId}/execution/${id}/summary?project=${project}`;

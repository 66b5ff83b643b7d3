import { randomBytes } from "node:crypto";
import { ApiError, invalid, notFound } from "./api-error.ts";
import { compile } from "./compile.ts";
import { type Execution, startExecution } from "./execution.ts";
import type { Program } from "./run.ts";
import { SourceError } from "./source.ts";
import { parseJson, type Value } from "./values.ts";

/** A deployed workflow. There is one revision: a source that is deployed stays. */
export interface Workflow {
  readonly resource: { readonly name: string; readonly revisionId: string };
  readonly program: Program;
  readonly labels: ReadonlyMap<string, string>;
  /** In the order of their creation. */
  readonly executions: Execution[];
}

/** Documented of Workflow.labels and Execution.labels; international characters are allowed. */
const labelKey = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const labelValue = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;
const maxLabels = 64;
/** Documented of an execution's argument. */
const maxArgumentBytes = 32 * 1024;

const toLabels = (given: unknown): ReadonlyMap<string, string> => {
  const entries = Object.entries(given ?? {});
  if (entries.length > maxLabels) throw invalid(`${entries.length} labels, at most ${maxLabels} are allowed`);
  for (const [key, value] of entries)
    if (!labelKey.test(key) || typeof value !== "string" || !labelValue.test(value))
      throw invalid(`the label ${key}=${value} is not allowed`);
  return new Map(entries as [string, string][]);
};

const toProgram = (source: unknown): Program => {
  try {
    return compile(typeof source === "string" ? source : "");
  } catch (error) {
    throw error instanceof SourceError ? invalid(error.message) : error;
  }
};

const toInput = (argument: string | undefined): Value | undefined => {
  if (argument === undefined || argument === "") return undefined;
  const bytes = Buffer.byteLength(argument);
  if (bytes > maxArgumentBytes) throw invalid(`argument has ${bytes} bytes, at most ${maxArgumentBytes} are allowed`);
  try {
    return parseJson(argument);
  } catch (error) {
    throw invalid(`argument is no JSON: ${error instanceof Error ? error.message : error}`);
  }
};

export type Fields = Readonly<Record<string, unknown>>;

const nth = (count: number): string =>
  `${String(count).padStart(6, "0")}-${randomBytes(2).toString("hex").slice(0, 3)}`;

/** @throws ApiError */
export const newWorkflow = (name: string, count: number, fields: Fields): Workflow => {
  const labels = toLabels(fields.labels);
  const program = toProgram(fields.sourceContents);
  const [now, revisionId] = [new Date().toISOString(), nth(count)];
  const { description, sourceContents } = fields;
  const resource = {
    ...{ name, state: "ACTIVE", revisionId, createTime: now, updateTime: now, revisionCreateTime: now, sourceContents },
    ...(description !== undefined && { description }),
    ...(labels.size > 0 && { labels: Object.fromEntries(labels) }),
  };
  return { resource, program, labels, executions: [] };
};

/** An execution inherits its workflow's labels. @throws ApiError */
export const newExecution = (workflow: Workflow, fields: Fields, url: string): Execution => {
  const { resource, program, executions } = workflow;
  const argument = typeof fields.argument === "string" ? fields.argument : undefined;
  if (argument !== fields.argument) throw invalid("argument is no text");
  const input = toInput(argument);
  const labels = new Map([...workflow.labels, ...toLabels(fields.labels)]);
  const made = startExecution({
    ...{ workflow: resource.name, revision: resource.revisionId, program, argument, input, labels, url },
  });
  executions.push(made);
  return made;
};

export const executionIn = ({ resource, executions }: Workflow, id: string): Execution => {
  const found = executions.find((execution) => execution.id === id);
  if (found === undefined) throw notFound(`Execution ${resource.name}/executions/${id} does not exist`);
  return found;
};

/** @throws ApiError unless the execution is active. */
export const cancelExecution = (execution: Execution): Execution => {
  const { name, state } = execution;
  if (state !== "ACTIVE") throw new ApiError(400, "FAILED_PRECONDITION", `Execution ${name} has ended: ${state}`);
  execution.cancel();
  return execution;
};

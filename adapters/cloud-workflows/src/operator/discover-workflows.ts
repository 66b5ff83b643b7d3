import {
  BridgeError,
  type CallContext,
  type JsonObject,
  type PipelineDescription,
  toBridgeError,
} from "@taskbridge/core/adapter";
import type { GcwClient, Workflow } from "../google/client.ts";
import { type CloudWorkflowsTarget, type Parent, parentOf } from "../settings/parse-target.ts";
import { parseInputLabel, parseInputTag } from "./parse-input-tag.ts";

type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

const pageSize = 500;
const maxAttempts = 10;

const withRetry = async <Value>(work: () => Promise<Value>, signal: AbortSignal, pause: Pause): Promise<Value> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const { code, retryAfterMs = 1_000 } = toBridgeError(error);
      if (code !== "throttled" || attempt === maxAttempts) throw error;
      await pause(retryAfterMs, signal);
    }
  }
};

const matcherOf = (filter: string | undefined): ((id: string, labels: Workflow["labels"]) => boolean) => {
  const [, key, value] = /^label:([^=]+)(?:=(.*))?$/.exec(filter ?? "") ?? [];
  if (key === undefined) return (id) => id.startsWith(filter ?? "");
  return (_id, labels) => Object.hasOwn(labels, key) && (value === undefined || labels[key] === value);
};

const inputLine = /^taskbridge:input\s+(\S.*)$/;

/** The last line of a description that says what the input is, and the rest. */
const readDescription = (description: string): { readonly text: string; readonly input: string | undefined } => {
  const lines = description.trimEnd().split(/\r?\n/);
  const [, input] = inputLine.exec(lines.at(-1)?.trim() ?? "") ?? [];
  return { text: (input === undefined ? lines : lines.slice(0, -1)).join("\n").trim(), input };
};

const free: JsonObject = { type: "object" };

const schemaOf = (
  line: string | undefined,
  label: string | undefined,
): { readonly input: JsonObject; readonly note: string } => {
  const [inputLabel, schema] =
    line === undefined ? [label, label && parseInputLabel(label)] : [line, parseInputTag(line)];
  if (schema) return { input: schema, note: "" };
  const why =
    inputLabel === undefined
      ? "its description does not end with a line taskbridge:input"
      : "its taskbridge:input is not name:type name:type:optional …";
  return { input: free, note: ` (takes any object: ${why})` };
};

const describe = (id: string, { description, labels }: Workflow): PipelineDescription<CloudWorkflowsTarget> => {
  const inputLabel = readDescription(description);
  const { input, note } = schemaOf(inputLabel.input, labels.taskbridge_input);
  const text = inputLabel.text || labels.taskbridge_description?.replaceAll("_", " ") || `Runs the workflow ${id}.`;
  return {
    name: labels.taskbridge_name ?? id,
    description: `${text}${note}`,
    target: { workflow: id },
    input,
  };
};

/** The workflows of a project and location whose names begin with `filter`, or that have the label `label:KEY` or `label:KEY=VALUE`. */
export async function* discoverWorkflows(
  client: Pick<GcwClient, "workflows">,
  parent: Parent,
  filter: string | undefined,
  { signal, log }: CallContext,
  pause: Pause,
): AsyncGenerator<PipelineDescription<CloudWorkflowsTarget>> {
  const matches = matcherOf(filter);
  let token: string | undefined;
  let seen = 0;
  do {
    const paging = { size: pageSize, ...(token === undefined ? {} : { token }) };
    const page = await withRetry(() => client.workflows(parentOf(parent), paging, signal), signal, pause);
    seen += page.rows.length;
    for (const workflow of page.rows) {
      const id = workflow.name.split("/").at(-1) ?? "";
      if (id !== "" && matches(id, workflow.labels)) yield describe(id, workflow);
    }
    if (page.next !== undefined && page.next === token)
      throw new BridgeError("bad_response", "workflows.workflows.list: the same page comes again and again");
    token = page.next;
  } while (token !== undefined);
  // As if one of the two were misspelt.
  if (seen === 0) log("warn", `there are no workflows at all in ${parentOf(parent)} (\`project\`, \`location\`)`);
}

import { toBridgeError } from "../../contract/bridge-error.ts";
import { type AdapterId, asAdapterId } from "../../contract/identity.ts";
import { misconfigured } from "../../contract/misconfigured.ts";
import type { WorkflowAdapter } from "../../contract/workflow-adapter.ts";
import type { EngineContext } from "./engine-context.ts";
import { defaultTaskPolicy, type ResolvedTool, type ToolDefinition } from "./tool-definition.ts";

/** The tools by name. Throws `misconfigured` with `data.path` for one that cannot work. */
export const resolveTools = (
  definitions: readonly ToolDefinition[],
  adapters: ReadonlyMap<AdapterId, WorkflowAdapter>,
  check: EngineContext["check"],
): ReadonlyMap<string, ResolvedTool> => {
  const tools = new Map<string, ResolvedTool>();
  for (const [index, definition] of definitions.entries()) {
    const path = `tools[${index}]`;
    const tool = resolveTool(definition, path);
    if (!/^[A-Za-z0-9_.-]{1,128}$/.test(tool.name))
      throw misconfigured(`${path}.name`, `1 to 128 of A-Z a-z 0-9 _ . - are needed, got ${JSON.stringify(tool.name)}`);
    if (tools.has(tool.name)) throw misconfigured(`${path}.name`, `a second tool is called ${tool.name}`);
    const adapter = adapters.get(tool.adapter);
    if (adapter === undefined)
      throw misconfigured(
        `${path}.adapter`,
        `no adapter is called ${JSON.stringify(tool.adapter)}; there are: ${[...adapters.keys()].join(", ") || "none"}`,
      );
    if (JSON.stringify(tool.target).length > 4_096)
      throw misconfigured(`${path}.target`, "more than 4096 characters of JSON are not kept with each task");
    try {
      adapter.parseTarget(tool.target);
    } catch (error) {
      const known = toBridgeError(error);
      const inner = typeof known.data?.path === "string" && known.data.path !== "" ? `.${known.data.path}` : "";
      throw misconfigured(
        `${path}.target${inner}`,
        known.message.replace(new RegExp(`^${escapePattern(inner.slice(1))}: `), ""),
        error,
      );
    }
    check(tool.input, `${path}.input`);
    if (tool.output !== undefined) check(tool.output, `${path}.output`);
    tools.set(tool.name, tool);
  }
  return tools;
};

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Fills in the defaults. Throws `misconfigured` with `data.path` for a policy that cannot be kept. */
const resolveTool = (definition: ToolDefinition, path: string): ResolvedTool => {
  const task = { ...defaultTaskPolicy, ...definition.task };
  for (const [member, min] of [
    ["retentionMs", 0],
    ["pollIntervalMs", 1],
    ["ackMs", 0],
    ["startDeadlineMs", 1],
    ["dedupeWindowMs", 0],
  ] as const) {
    requireNumber(task[member], min, `${path}.task.${member}`);
  }
  for (const member of ["maxRunMs", "questionTimeoutMs", "expectedMs", "maxConcurrent"] as const) {
    if (task[member] !== null) requireNumber(task[member], 1, `${path}.task.${member}`);
  }
  return {
    ...definition,
    adapter: asAdapterId(definition.adapter),
    input: definition.input ?? { type: "object" },
    task,
  };
};

const requireNumber = (value: number, min: number, path: string): void => {
  if (!Number.isSafeInteger(value) || value < min) {
    throw misconfigured(path, `a whole number of at least ${min} is needed, got ${JSON.stringify(value)}`);
  }
};

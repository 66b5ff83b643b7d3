import type { Tool } from "@modelcontextprotocol/server";
import { type JsonObject, misconfigured, type ResolvedTool } from "@taskbridge/core";
import { isPublishable, type OutputExpectation, toPublishedSchema } from "@taskbridge/protocol";
import type { CompanionTool } from "@taskbridge/protocol/no-tasks";
import { compileCheck, type JsonSchemaCheck } from "../json-schema-check.ts";
import type { PlainTool } from "./plain-tool.ts";

export type CatalogTool =
  | { readonly kind: "pipeline"; readonly tool: ResolvedTool }
  | { readonly kind: "plain"; readonly tool: PlainTool; readonly checkInput: JsonSchemaCheck }
  | { readonly kind: "companion"; readonly tool: CompanionTool; readonly checkInput: JsonSchemaCheck };

/** The tools of a server, with everything about them worked out once. */
export interface ToolCatalog {
  /** As `tools/list` answers: always the same, in the configured order. The companions come last. */
  list(how: ListedHow): readonly Tool[];
  find(name: string): CatalogTool | undefined;
  inputSchema(name: string): JsonObject | undefined;
  /** What the output of a pipeline must be like; undefined for one without an output schema, or no longer configured. */
  expectation(tool: string): OutputExpectation | undefined;
}

export interface ListedHow {
  /** With the companions. */
  readonly companions: boolean;
  /** For clients of 2025-11-25: with whether each can be called as a task. */
  readonly support: boolean;
}

/** Throws `misconfigured` with `data.path` for a name that is taken or a schema that cannot be used. */
export const createToolCatalog = (
  pipelines: Iterable<ResolvedTool>,
  plainTools: readonly PlainTool[],
  companions: readonly CompanionTool[],
): ToolCatalog => {
  const tools = new Map<string, CatalogTool>();
  const expectations = new Map<string, OutputExpectation>();
  const listed: Tool[] = [];
  for (const tool of pipelines) {
    tools.set(tool.name, { kind: "pipeline", tool });
    listed.push(listPipeline(tool));
    if (tool.output === undefined) continue;
    const check = compileCheck(tool.output, `tools.${tool.name}.output`);
    expectations.set(tool.name, { check, structured: isPublishable(tool.output) });
  }
  for (const [index, tool] of plainTools.entries()) {
    const path = `plainTools[${index}]`;
    if (tools.has(tool.name)) {
      throw misconfigured(`${path}.name`, `"${tool.name}" is the name of another tool`);
    }
    tools.set(tool.name, { kind: "plain", tool, checkInput: compileCheck(tool.inputSchema, `${path}.inputSchema`) });
    listed.push(listPlain(tool));
  }
  for (const tool of companions) {
    requireFree(tool.name, [...tools.values()]);
    tools.set(tool.name, { kind: "companion", tool, checkInput: compileCheck(tool.inputSchema, tool.name) });
  }
  const withSupport = (tool: Tool): Tool => {
    const found = tools.get(tool.name);
    const taskSupport = found?.kind === "pipeline" ? found.tool.task.support : "forbidden";
    return { ...tool, execution: { taskSupport } };
  };
  const all = [...listed, ...companions.map(toListed)];
  const lists = { own: listed, all, ownWithSupport: listed.map(withSupport), allWithSupport: all.map(withSupport) };
  return {
    list: ({ companions: isAll, support }) => {
      if (support) return isAll ? lists.allWithSupport : lists.ownWithSupport;
      return isAll ? lists.all : lists.own;
    },
    find: (name) => tools.get(name),
    inputSchema: (name) => {
      const found = tools.get(name);
      return found?.kind === "pipeline" ? found.tool.input : found?.tool.inputSchema;
    },
    expectation: (tool) => expectations.get(tool),
  };
};

const requireFree = (name: string, taken: readonly CatalogTool[]): void => {
  const clash = taken.find(({ tool }) => tool.name === name);
  if (clash === undefined) return;
  const position = taken.filter(({ kind }) => kind === clash.kind).indexOf(clash);
  throw misconfigured(
    `${clash.kind === "plain" ? "plainTools" : "tools"}[${position}].name`,
    `"${name}" is the name of a tool that this server adds for hosts without tasks: rename yours, or set companions to never`,
  );
};

const listPipeline = (tool: ResolvedTool): Tool => {
  const outputSchema = toPublishedSchema(tool.output);
  return toListed({
    ...tool,
    inputSchema: tool.input,
    ...(outputSchema === undefined ? {} : { outputSchema }),
  });
};

const listPlain = (tool: PlainTool): Tool => toListed(tool);

const toListed = (tool: Omit<PlainTool, "call">): Tool =>
  ({
    name: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    inputSchema: { type: "object", ...tool.inputSchema },
    ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
    ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
  }) as Tool;

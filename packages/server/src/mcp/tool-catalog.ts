import type { Tool } from "@modelcontextprotocol/server";
import { BridgeError, type JsonObject, type ResolvedTool } from "@taskbridge/core";
import { isPublishable, type OutputExpectation, toPublishedSchema } from "@taskbridge/protocol";
import { compileCheck, type JsonSchemaCheck } from "../json-schema-check.ts";
import type { PlainTool } from "./plain-tool.ts";

export type CatalogTool =
  | { readonly kind: "pipeline"; readonly tool: ResolvedTool }
  | { readonly kind: "plain"; readonly tool: PlainTool; readonly checkInput: JsonSchemaCheck };

/** The tools of a server, with everything about them worked out once. */
export interface ToolCatalog {
  /** As `tools/list` answers: always the same, in the configured order. */
  readonly listed: readonly Tool[];
  /** The same for clients of 2025-11-25: with whether each can be called as a task. */
  readonly listedWithSupport: readonly Tool[];
  find(name: string): CatalogTool | undefined;
  inputSchema(name: string): JsonObject | undefined;
  /** What the output of a pipeline must be like; undefined for one without an output schema, or no longer configured. */
  expectation(tool: string): OutputExpectation | undefined;
}

/** Throws `misconfigured` with `data.path` for a name that is taken or a schema that cannot be used. */
export const createToolCatalog = (pipelines: Iterable<ResolvedTool>, plainTools: readonly PlainTool[]): ToolCatalog => {
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
      throw new BridgeError("misconfigured", `${path}.name: "${tool.name}" is the name of another tool`, {
        data: { path: `${path}.name` },
      });
    }
    tools.set(tool.name, { kind: "plain", tool, checkInput: compileCheck(tool.inputSchema, `${path}.inputSchema`) });
    listed.push(listPlain(tool));
  }
  return {
    listed,
    listedWithSupport: listed.map((tool) => {
      const found = tools.get(tool.name);
      const taskSupport = found?.kind === "pipeline" ? found.tool.task.support : "forbidden";
      return { ...tool, execution: { taskSupport } };
    }),
    find: (name) => tools.get(name),
    inputSchema: (name) => {
      const found = tools.get(name);
      return found?.kind === "plain" ? found.tool.inputSchema : found?.tool.input;
    },
    expectation: (tool) => expectations.get(tool),
  };
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

import { hasTaskMark } from "@taskbridge/protocol/tasks-sep1686";
import type { ServeContext } from "../mcp/serve-context.ts";

interface Asked {
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/**
 * Whether a `tools/call` becomes a task under the ID that its client has chosen. Every other kind of request, and tools
 * that are never tasks, are served as if there were no mark: https://modelcontextprotocol.io/seps/1686-tasks#4-1-task-support-and-handling
 */
export const becomesSep1686Task = (
  { wires, catalog }: Pick<ServeContext, "wires" | "catalog">,
  { method, params }: Asked,
): boolean => {
  if (!wires.has("sep-1686") || method !== "tools/call" || !hasTaskMark(params)) return false;
  const found = typeof params?.name === "string" ? catalog.find(params.name) : undefined;
  return found?.kind === "pipeline" && found.tool.task.support !== "forbidden";
};

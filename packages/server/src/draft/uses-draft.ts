import { protocolVersion } from "@taskbridge/protocol/rev-2025-11-25";
import { carriesDraft, hasTaskMark } from "@taskbridge/protocol/sep-1686";
import type { LegacySession } from "../legacy/legacy-session.ts";
import type { ServeContext } from "../mcp/serve-context.ts";

interface Asked {
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/**
 * Whether a `tools/call` becomes a task under the ID that its client has chosen. Every other kind of request, and tools
 * that are never tasks, are served as if there were no mark: https://modelcontextprotocol.io/seps/1686-tasks#4-1-task-support-and-handling
 */
export const becomesDraftTask = (
  { wires, catalog }: Pick<ServeContext, "wires" | "catalog">,
  { method, params }: Asked,
): boolean => {
  if (!wires.has("sep-1686") || method !== "tools/call" || !hasTaskMark(params)) return false;
  const found = typeof params?.name === "string" ? catalog.find(params.name) : undefined;
  return found?.kind === "pipeline" && found.tool.task.support !== "forbidden";
};

/** Notes that a client speaks the draft, which it shows by any key of it. */
export const noteDraft = (
  { wires }: Pick<ServeContext, "wires">,
  { params, session }: Pick<Asked, "params"> & { readonly session: LegacySession },
): void => {
  if (wires.has("sep-1686") && carriesDraft(params)) session.draft.speak();
};

/** Whether the methods of tasks are those of the draft: its client speaks it, or knows no revision that has others. */
export const usesDraft = (
  { wires }: Pick<ServeContext, "wires">,
  session: Pick<LegacySession, "draft" | "revision">,
): boolean => wires.has("sep-1686") && (session.draft.isSpoken() || (session.revision() ?? "") < protocolVersion);

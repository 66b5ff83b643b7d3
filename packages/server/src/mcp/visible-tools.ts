import type { Tool } from "@modelcontextprotocol/server";
import { hasCompanions } from "./companions-policy.ts";
import type { Caller, ServeContext } from "./serve-context.ts";
import type { CatalogTool } from "./tool-catalog.ts";

type Viewer = Pick<Caller, "era" | "capabilities">;

/** What `tools/list` answers this caller. `support`: with whether each can be called as a task. */
export const listTools = (
  context: ServeContext,
  caller: Viewer,
  { support = false }: { readonly support?: boolean } = {},
): readonly Tool[] => context.catalog.list({ companions: hasCompanions(context, caller), support });

/** The tool of this name, if this caller can call it. */
export const findTool = (context: ServeContext, caller: Viewer, name: string): CatalogTool | undefined => {
  const found = context.catalog.find(name);
  return found?.kind === "companion" && !hasCompanions(context, caller) ? undefined : found;
};

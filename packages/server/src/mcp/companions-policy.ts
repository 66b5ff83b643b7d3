import { misconfigured, type ResolvedTool } from "@taskbridge/core";
import { type CompanionTool, companionTools } from "@taskbridge/protocol/no-tasks";
import type { Caller, CompanionsPolicy, ServeContext } from "./serve-context.ts";

/** Throws `misconfigured` with `data.path` for anything else. */
export const parseCompanions = (policy: unknown = "auto"): CompanionsPolicy => {
  if (policy === "auto" || policy === "always" || policy === "never") return policy;
  throw misconfigured("companions", `it is "auto", "always" or "never", got ${JSON.stringify(policy)}`);
};

/** Without a pipeline that may become a task there is nothing for the companions to get at. */
export const narrowCompanions = (policy: CompanionsPolicy, pipelines: Iterable<ResolvedTool>): CompanionsPolicy =>
  policy === "auto" && [...pipelines].every(({ task }) => task.support === "forbidden") ? "never" : policy;

export const chooseCompanions = (policy: CompanionsPolicy, modelAnswers: boolean): readonly CompanionTool[] =>
  policy === "never" ? [] : companionTools(modelAnswers);

/** Whether a caller sees the companions and can call them. Clients of the 2025 revisions declare nothing, so they do. */
export const hasCompanions = (
  { companions, wires }: Pick<ServeContext, "companions" | "wires">,
  { era, capabilities }: Pick<Caller, "era" | "capabilities">,
): boolean => {
  if (companions !== "auto") return companions === "always";
  if (era === "legacy") return true;
  return wires.has("none") && !(wires.has("2026-07-28") && capabilities.tasks);
};

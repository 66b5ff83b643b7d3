import type { TaskRecord } from "@taskbridge/core";
import type { TaskOptions } from "@taskbridge/protocol/rev-2025-11-25";
import type { ServeContext } from "../mcp/serve-context.ts";
import type { LegacySession } from "./legacy-session.ts";

/** How a session is shown a task: the same whether it asks or is told. */
export const toTaskOptions = (
  { legacyErrorStatus, allowModelAnswers, catalog }: ServeContext,
  { capabilities, hasGivenUp }: Pick<LegacySession, "capabilities" | "hasGivenUp">,
  { tool, taskId }: TaskRecord,
): TaskOptions => ({
  errorStatus: legacyErrorStatus,
  capabilities: capabilities(),
  unanswered: (key) => hasGivenUp(taskId, key),
  modelAnswers: allowModelAnswers,
  expectation: catalog.expectation(tool),
});

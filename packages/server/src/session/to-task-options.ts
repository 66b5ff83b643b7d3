import type { TaskRecord } from "@taskbridge/core";
import type { SessionCapabilities, TaskOptions } from "@taskbridge/protocol/tasks-2025-11-25";
import type { ServeContext } from "../mcp/serve-context.ts";

interface Shown {
  /** As in `Session2025`. */
  capabilities(): SessionCapabilities;
  /** As in `Session2025`. */
  hasGivenUp(taskId: string, key: string): boolean;
}

/** How a session is shown a task: the same whether it asks or is told. */
export const toTaskOptions = (
  { legacyErrorStatus, allowModelAnswers, catalog }: ServeContext,
  { capabilities, hasGivenUp }: Shown,
  { tool, taskId }: TaskRecord,
): TaskOptions => ({
  errorStatus: legacyErrorStatus,
  capabilities: capabilities(),
  unanswered: (key) => hasGivenUp(taskId, key),
  modelAnswers: allowModelAnswers,
  expectation: catalog.expectation(tool),
});

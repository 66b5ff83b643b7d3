import type { TaskRecord } from "@taskbridge/core";
import type { SessionCapabilities, TaskOptions } from "@taskbridge/protocol/rev-2025-11-25";
import type { ServeContext } from "../mcp/serve-context.ts";

/** How a session is shown a task: the same whether it asks or is told. */
export const toTaskOptions = (
  { legacyErrorStatus, allowModelAnswers, catalog }: ServeContext,
  capabilities: SessionCapabilities,
  { tool }: TaskRecord,
): TaskOptions => ({
  errorStatus: legacyErrorStatus,
  capabilities,
  modelAnswers: allowModelAnswers,
  expectation: catalog.expectation(tool),
});

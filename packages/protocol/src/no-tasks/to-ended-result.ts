import type { TaskView } from "@taskbridge/core";
import { type OutputExpectation, toToolResult } from "../to-tool-result.ts";
import { type ToolResult, textBlock } from "../tool-result.ts";

/** What `task_status` says of a task that has ended: how, and then what the call itself would have answered. */
export const toEndedResult = (view: TaskView, expectation: OutputExpectation | undefined): ToolResult => {
  const result = toToolResult(view, expectation, "task_result");
  return { ...result, content: [textBlock(toEnd(view)), ...result.content] };
};

/** One sentence. */
export const toEnd = ({ record: { taskId, tool, state } }: TaskView): string => {
  const end = state === "succeeded" ? "has completed" : state === "failed" ? "has failed" : "was cancelled";
  return `Task ${taskId} of ${tool} ${end}.`;
};

import { TaskClientError } from "./client-error.ts";
import { isMembers, type Members } from "./members.ts";
import type { ToolResult } from "./task-status.ts";

/** Throws `bad_response` for what cannot be a tool's result; members that are new are kept. */
export const toToolResult = (answer: unknown): ToolResult => {
  if (!isMembers(answer)) throw new TaskClientError("bad_response", "the server answered with no result");
  const { resultType: _resultType, content = [], ...rest } = answer as Members & { content?: unknown };
  if (!Array.isArray(content)) throw new TaskClientError("bad_response", "`content` of the result is no list");
  if (rest["structuredContent"] !== undefined && !isMembers(rest["structuredContent"])) {
    throw new TaskClientError("bad_response", "`structuredContent` of the result is no object");
  }
  return { ...rest, content: content.filter(isMembers) };
};

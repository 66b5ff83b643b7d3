import { TaskClientError } from "./client-error.ts";
import { isObject, type Members } from "./is-object.ts";
import type { ContentBlock, ToolResult } from "./tool-result.ts";

/** Throws `bad_response` for what cannot be a tool's result; members that are new are kept. */
export const toToolResult = (answer: unknown): ToolResult => {
  if (!isObject(answer)) throw new TaskClientError("bad_response", "the server answered with no result");
  const { resultType: _resultType, content = [], ...rest } = answer as Members & { content?: unknown };
  if (!Array.isArray(content)) throw new TaskClientError("bad_response", "`content` of the result is no list");
  if (rest["structuredContent"] !== undefined && !isObject(rest["structuredContent"])) {
    throw new TaskClientError("bad_response", "`structuredContent` of the result is no object");
  }
  return { ...rest, content: content.filter(isObject) as unknown[] as ContentBlock[] };
};

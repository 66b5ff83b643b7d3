import type { JsonValue } from "@taskbridge/core";
import type { CallOutcome, TaskResult } from "../task-source.ts";
import { type Members, parseJson } from "./members.ts";
import type { Request } from "./task-requests.ts";

/** A call that was answered without a task. */
export const toImmediate = async (request: Request, result: Members): Promise<CallOutcome> => ({
  kind: "result",
  result: await toResult(request, result),
  failed: result["isError"] === true,
});

/** The whole result of a tool; a large one is read from where it is kept. */
export const toResult = async (request: Request, result: Members): Promise<TaskResult> => {
  const address = (result["structuredContent"] as Members | undefined)?.["resultUri"];
  if (typeof address === "string") return readWhole(request, address);
  const text = textsOf(result).join("\n");
  const json = (result["structuredContent"] as JsonValue | undefined) ?? parseJson(text);
  return json === undefined ? { text } : { text, json };
};

/** The content of a result, a text for each block. */
export const textsOf = (result: Members | undefined): readonly string[] =>
  ((result?.["content"] ?? []) as Members[]).map(({ type, text, uri }) =>
    type === "text" ? String(text) : `[${type}${uri === undefined ? "" : ` ${uri}`}]`,
  );

/** A result too large for one answer: each part names the address of the next. */
const readWhole = async (request: Request, address: string): Promise<TaskResult> => {
  const parts: string[] = [];
  for (let uri: string | undefined = address; uri !== undefined; ) {
    const answer = await request("resources/read", { uri });
    const [content = {}] = answer["contents"] as Members[];
    parts.push(String(content["text"] ?? ""));
    uri = (content["_meta"] as Record<string, string> | undefined)?.["taskbridge/nextUri"];
  }
  const text = parts.join("");
  const json = parseJson(text);
  return json === undefined ? { text } : { text, json };
};

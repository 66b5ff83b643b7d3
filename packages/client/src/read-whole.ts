import { TaskClientError } from "./client-error.ts";
import { type Members, toMembers } from "./is-object.ts";
import type { ContentBlock, ToolResult } from "./tool-result.ts";

/** A result in full. */
export interface WholeResult {
  /** The texts of the content; a large result's own text. */
  readonly text: string;
  /** The structured content, or what the text is when it is a JSON object or list. */
  readonly json?: unknown;
}

/** A preview names where the whole is kept; each part names the next. Rejects with `bad_response` for parts in circles. */
export const readWhole = async (
  request: (method: string, params: Members) => Promise<Members>,
  { content, structuredContent }: ToolResult,
): Promise<WholeResult> => {
  const address = structuredContent?.["resultUri"];
  if (typeof address === "string") return withJson(await readParts(request, address));
  const text = content.map(toText).join("\n");
  return structuredContent === undefined ? withJson(text) : { text, json: structuredContent };
};

const withJson = (text: string): WholeResult => {
  const json = parseJson(text);
  return json === undefined ? { text } : { text, json };
};

const toText = (block: ContentBlock): string => {
  if (block.type === "text") return block.text;
  return block.type === "resource_link" ? `[${block.type} ${block.uri}]` : `[${block.type}]`;
};

const maxParts = 10_000;

const readParts = async (
  request: (method: string, params: Members) => Promise<Members>,
  first: string,
): Promise<string> => {
  const parts: string[] = [];
  const seen = new Set<string>();
  for (let uri: unknown = first; typeof uri === "string"; ) {
    if (seen.has(uri)) throw new TaskClientError("bad_response", `the parts of ${first} go in circles`);
    if (seen.size === maxParts) throw new TaskClientError("bad_response", `${first} has more than ${maxParts} parts`);
    seen.add(uri);
    const { contents } = await request("resources/read", { uri });
    const [content] = Array.isArray(contents) ? contents : [];
    const { text, _meta } = toMembers(content);
    if (typeof text !== "string") throw new TaskClientError("bad_response", `${uri} has no text`);
    parts.push(text);
    uri = toMembers(_meta)["taskbridge/nextUri"];
  }
  return parts.join("");
};

const parseJson = (text: string): unknown => {
  try {
    return /^\s*[[{]/.test(text) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
};

import type { BridgeError, GivenAnswer } from "@taskbridge/core";
import * as z from "zod";
import { invalidInput } from "../invalid-input.ts";
import { parseJson } from "../parse-json.ts";
import type { SessionQuestion } from "./to-elicitation.ts";

const block = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({ content: z.union([block, z.array(block)]) });

/**
 * Reads what the client's model answered to `toSampling`. Throws `invalid_input` with `data.path` when there is no text,
 * or none that is an answer. Whether content fits the question's schema is the engine's to say.
 */
export const fromSamplingResult = (value: unknown, question: SessionQuestion): GivenAnswer => {
  const text = readText(value, question.key);
  const word = /^\W*(accept|decline)\W*$/i.exec(text)?.[1]?.toLowerCase();
  if (question.schema === undefined) {
    if (word === undefined) throw invalid(question.key, "ACCEPT or DECLINE is needed");
    return { action: word === "accept" ? "accept" : "decline" };
  }
  // JSON first: "decline", with its quotes, may be one of the values that the schema knows.
  const found = [text, ...toFenced(text)].map(parseJson).find((json) => json !== undefined);
  if (found !== undefined) return { action: "accept", content: found.value };
  if (word === "decline") return { action: "decline" };
  throw invalid(question.key, "JSON text or DECLINE is needed");
};

const readText = (value: unknown, key: string): string => {
  const parsed = message.safeParse(value);
  if (!parsed.success) throw invalid(key, "a message of a model is needed");
  return [parsed.data.content]
    .flat()
    .flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : []))
    .join("");
};

const fence = "```";

/** What stands between the outermost fences, with and without the name of a language: models put them in spite of being told. */
const toFenced = (text: string): readonly string[] => {
  const start = text.indexOf(fence) + fence.length;
  const end = text.lastIndexOf(fence);
  if (start < fence.length || end < start) return [];
  const inner = text.slice(start, end);
  return [inner, inner.replace(/^\w*\s/, "")];
};

const invalid = (key: string, problem: string): BridgeError => invalidInput(`${key}.content`, problem);

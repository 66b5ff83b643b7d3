import { BridgeError, type GivenAnswer, type JsonValue } from "@taskbridge/core";
import * as z from "zod";
import type { SessionQuestion } from "./to-elicitation.ts";

const block = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({ content: z.union([block, z.array(block)]) });

/**
 * Reads what the client's model answered to `toSampling`. Throws `invalid_input` with `data.path` when there is no text,
 * or none that is an answer. Whether content fits the question's schema is the engine's to say.
 */
export const fromSamplingResult = (value: unknown, question: SessionQuestion): GivenAnswer => {
  const text = unfence(readText(value, question.key));
  const word = /^\W*(accept|decline)\W*$/i.exec(text)?.[1]?.toLowerCase();
  if (question.schema === undefined) {
    if (word === undefined) throw invalid(question.key, "ACCEPT or DECLINE is needed");
    return { action: word === "accept" ? "accept" : "decline" };
  }
  const content = parseJson(text);
  if (content !== undefined) return { action: "accept", content };
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

/** What models put around JSON in spite of being told. */
const unfence = (text: string): string => {
  const [, fenced] = /```[a-z]*\s*\n?([\s\S]*?)```/i.exec(text) ?? [];
  return (fenced ?? text).trim();
};

const parseJson = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
};

const invalid = (key: string, told: string): BridgeError =>
  new BridgeError("invalid_input", `${key}.content: ${told}`, { data: { path: `${key}.content` } });

import { BridgeError, type GivenAnswer, type JsonObject, type JsonValue } from "@taskbridge/core";
import * as z from "zod";
import { jsonField, toFormSchema } from "./form-schema.ts";
import type { CallerCapabilities } from "./read-capabilities.ts";
import { type AskedQuestion, questionMode } from "./to-input-requests.ts";

const response = z.looseObject({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Reads the answers to open questions. Keys of no open question are left out, as the specification wants. Throws
 * `invalid_input` whose `data.path` names the key and field: `inputResponses.q1.content.json`.
 */
export const fromInputResponses = (
  responses: Readonly<Record<string, unknown>>,
  questions: ReadonlyMap<string, AskedQuestion>,
  capabilities: CallerCapabilities,
): Readonly<Record<string, GivenAnswer>> => {
  const answers: [string, GivenAnswer][] = [];
  for (const [key, value] of Object.entries(responses)) {
    const question = questions.get(key);
    const answer = question && toAnswer(`inputResponses.${key}`, value, question, capabilities);
    if (answer !== undefined) answers.push([key, answer]);
  }
  return Object.fromEntries(answers);
};

/** Undefined: nothing to deliver yet. */
const toAnswer = (
  path: string,
  value: unknown,
  question: AskedQuestion,
  capabilities: CallerCapabilities,
): GivenAnswer | undefined => {
  const parsed = response.safeParse(value);
  if (!parsed.success) throw invalid(issuePath(path, parsed.error), parsed.error.issues[0]?.message ?? "not an answer");
  const { action, content } = parsed.data;
  if (action !== "accept") return { action };
  // Accepting a page only says that it was opened; the backend notices what is done there.
  if (questionMode(question, capabilities) === "url") return undefined;
  if (question.schema === undefined) return { action };
  const form = toFormSchema(question.schema);
  return { action, content: form.kind === "json" ? readJson(path, content) : ((content ?? {}) as JsonObject) };
};

const readJson = (path: string, content: Readonly<Record<string, unknown>> | undefined): JsonValue => {
  const text = content?.[jsonField];
  try {
    if (typeof text === "string") return JSON.parse(text) as JsonValue;
  } catch {
    // Told below, like a missing field.
  }
  throw invalid(`${path}.content.${jsonField}`, "JSON text is needed");
};

const issuePath = (path: string, error: z.ZodError): string =>
  [path, ...(error.issues[0]?.path ?? []).map(String)].join(".");

const invalid = (path: string, message: string): BridgeError =>
  new BridgeError("invalid_input", `${path}: ${message}`, { data: { path } });

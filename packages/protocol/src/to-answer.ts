import type { GivenAnswer, JsonObject, JsonValue } from "@taskbridge/core";
import * as z from "zod";
import { type AskedQuestion, questionMode } from "./asked-question.ts";
import { jsonField, toFormSchema } from "./form-schema.ts";
import { invalidInput } from "./invalid-input.ts";
import { parseJson } from "./parse-json.ts";
import type { ElicitationModes } from "./read-elicitation-modes.ts";

const response = z.looseObject({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Reads what a client answered to the elicitation of a question. Undefined: nothing to deliver yet. Throws
 * `invalid_input` whose `data.path` is `path` and the field: `q1.content.json`.
 */
export const toAnswer = (
  path: string,
  value: unknown,
  question: AskedQuestion,
  modes: ElicitationModes,
): GivenAnswer | undefined => {
  const parsed = response.safeParse(value);
  if (!parsed.success)
    throw invalidInput(issuePath(path, parsed.error), parsed.error.issues[0]?.message ?? "not an answer");
  const { action, content } = parsed.data;
  if (action !== "accept") return { action };
  // Accepting a page only says that it was opened; the backend notices what is done there.
  if (questionMode(question, modes) === "url") return undefined;
  if (question.schema === undefined) return { action };
  const form = toFormSchema(question.schema);
  return { action, content: form.kind === "json" ? readJson(path, content) : ((content ?? {}) as JsonObject) };
};

const readJson = (path: string, content: Readonly<Record<string, unknown>> | undefined): JsonValue => {
  const text = content?.[jsonField];
  const json = typeof text === "string" ? parseJson(text) : undefined;
  if (json === undefined) throw invalidInput(`${path}.content.${jsonField}`, "JSON text is needed");
  return json.value;
};

const issuePath = (path: string, error: z.ZodError): string =>
  [path, ...(error.issues[0]?.path ?? []).map(String)].join(".");

import type { JsonObject } from "@taskbridge/core";
import { type AskedQuestion, questionMode } from "./asked-question.ts";
import { toFormSchema } from "./form-schema.ts";
import type { ElicitationModes } from "./read-elicitation-modes.ts";

export interface FormElicitation {
  readonly mode: "form";
  readonly message: string;
  readonly requestedSchema: JsonObject;
}

export interface UrlElicitation {
  readonly mode: "url";
  readonly message: string;
  readonly url: string;
}

/**
 * A question as the parameters of an elicitation, or why it is withheld, in one line. A mode that the client did not
 * declare is never sent, nor a form that would ask for a secret: every revision forbids both.
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
export const toElicitationParams = (
  question: AskedQuestion,
  modes: ElicitationModes,
): FormElicitation | UrlElicitation | string => {
  const { message, url, schema } = question;
  if (url !== undefined && questionMode(question, modes) === "url") {
    return modes.url ? { mode: "url", message, url } : `waits for a person at ${url}: ${message}`;
  }
  const form = toFormSchema(schema);
  if (form.kind === "secret") return `waits for a secret, which no form may ask for: ${message}`;
  if (!modes.form) return `waits for an answer that this client cannot give: ${message}`;
  return { mode: "form", message, requestedSchema: form.requestedSchema };
};

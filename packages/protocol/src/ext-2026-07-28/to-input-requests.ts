import type { JsonObject, TaskQuestion } from "@taskbridge/core";
import { toFormSchema } from "./form-schema.ts";
import type { CallerCapabilities } from "./read-capabilities.ts";

export interface ElicitationRequest {
  readonly method: "elicitation/create";
  readonly params: JsonObject & { readonly mode: "form" | "url"; readonly message: string };
}

/** Questions as one caller may see them. */
export interface InputRequests {
  /** By key; what this caller can answer. */
  readonly requests: Readonly<Record<string, ElicitationRequest>>;
  /** Why the others are not among them, one line each. */
  readonly withheld: readonly string[];
}

export type AskedQuestion = Pick<TaskQuestion, "message" | "schema" | "url">;

/** How a question is put to a caller. A page to visit stands in for a form only where there is no schema. */
export const questionMode = (question: AskedQuestion, capabilities: CallerCapabilities): "form" | "url" => {
  if (question.url === undefined) return "form";
  return question.schema !== undefined && capabilities.form ? "form" : "url";
};

/**
 * All open questions of a task, as elicitations. A mode that the caller did not declare is never sent, nor a form that
 * would ask for a secret: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
export const toInputRequests = (
  questions: Iterable<readonly [key: string, question: AskedQuestion]>,
  capabilities: CallerCapabilities,
): InputRequests => {
  const requests: Record<string, ElicitationRequest> = {};
  const withheld: string[] = [];
  for (const [key, question] of questions) {
    const request = toElicitation(question, capabilities);
    if (typeof request === "string") withheld.push(request);
    else requests[key] = request;
  }
  return { requests, withheld };
};

export const openQuestions = (questions: readonly TaskQuestion[]): readonly TaskQuestion[] =>
  questions.filter(({ state }) => state === "open");

const toElicitation = (question: AskedQuestion, capabilities: CallerCapabilities): ElicitationRequest | string => {
  const { message, url, schema } = question;
  if (url !== undefined && questionMode(question, capabilities) === "url") {
    if (!capabilities.url) return `waits for a person at ${url}: ${message}`;
    return { method: "elicitation/create", params: { mode: "url", message, url } };
  }
  const form = toFormSchema(schema);
  if (form.kind === "secret") return `waits for a secret, which no form may ask for: ${message}`;
  if (!capabilities.form) return `waits for an answer that this client cannot give: ${message}`;
  return { method: "elicitation/create", params: { mode: "form", message, requestedSchema: form.requestedSchema } };
};

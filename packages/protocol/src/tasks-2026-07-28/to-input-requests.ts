import type { JsonObject } from "@taskbridge/core";
import type { AskedQuestion } from "../asked-question.ts";
import { toElicitationParams } from "../to-elicitation-params.ts";
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

/** All open questions of a task, as elicitations. */
export const toInputRequests = (
  questions: Iterable<readonly [key: string, question: AskedQuestion]>,
  capabilities: CallerCapabilities,
): InputRequests => {
  const requests: Record<string, ElicitationRequest> = {};
  const withheld: string[] = [];
  for (const [key, question] of questions) {
    const elicitation = toElicitationParams(question, capabilities);
    if (typeof elicitation === "string") withheld.push(elicitation);
    else requests[key] = { method: "elicitation/create", params: { ...elicitation } };
  }
  return { requests, withheld };
};

import type { GivenAnswer } from "@taskbridge/core";
import type { AskedQuestion } from "../asked-question.ts";
import { toAnswer } from "../to-answer.ts";
import type { CallerCapabilities } from "./read-capabilities.ts";

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

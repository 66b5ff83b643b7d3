import type { GivenAnswer } from "@taskbridge/core";
import type { ElicitationModes } from "../read-elicitation-modes.ts";
import { toAnswer } from "../to-answer.ts";
import type { SessionQuestion } from "./to-elicitation.ts";

/**
 * Reads what a client answered to an elicitation. Undefined: it has only opened the page, so that there is nothing to
 * deliver yet. Throws `invalid_input` whose `data.path` names the question's key and the field: `q1.content.json`.
 */
export const fromElicitResult = (
  value: unknown,
  question: SessionQuestion,
  modes: ElicitationModes,
): GivenAnswer | undefined => toAnswer(question.key, value, question, modes);

import type { Answers as WireAnswers } from "@taskbridge/client";
import type { GivenAnswer } from "@taskbridge/core";
import { isObject } from "@taskbridge/core/adapter";
import { usageError } from "../cli-error.ts";
import type { Answers } from "../task-source.ts";

/** Answers as the wires have them. Throws a usage error for content that is no object, which none of them has. */
export const toWireAnswers = (answers: Answers): WireAnswers =>
  Object.fromEntries(Object.entries(answers).map(([key, answer]) => [key, toWireAnswer(answer)]));

const toWireAnswer = ({ action, content }: GivenAnswer): WireAnswers[string] => {
  if (content === undefined) return { action };
  if (isObject(content)) return { action, content };
  throw usageError(`an answer is a JSON object, got ${JSON.stringify(content).slice(0, 80)}`);
};

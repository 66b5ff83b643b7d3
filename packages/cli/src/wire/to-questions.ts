import type { JsonObject } from "@taskbridge/core";
import type { Answers, Question } from "../task-source.ts";
import type { Members } from "./members.ts";

/** The questions in the `inputRequests` of an answer. */
export const toQuestions = (requests: unknown): readonly Question[] =>
  Object.entries((requests ?? {}) as Record<string, Members>).map(([key, request]) => toQuestion(key, request));

export const toQuestion = (key: string, request: Members): Question => {
  const { message, requestedSchema, url } = (request["params"] ?? {}) as Members;
  return {
    key,
    message: String(message),
    ...(requestedSchema === undefined ? {} : { schema: requestedSchema as JsonObject }),
    ...(typeof url === "string" ? { url } : {}),
  };
};

/** What `inputResponses` carry for answers. */
export const toInputResponses = (answers: Answers): Members =>
  Object.fromEntries(Object.entries(answers).map(([key, answer]) => [key, toElicitResult(answer)]));

/** What an elicitation is answered with; no answer dismisses it. */
export const toElicitResult = (answer: Answers[string] | undefined): Members => {
  if (answer === undefined) return { action: "cancel" };
  return answer.content === undefined ? { action: answer.action } : { action: answer.action, content: answer.content };
};

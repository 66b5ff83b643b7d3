import { type Members, toMembers } from "./is-object.ts";
import type { GivenAnswer, Question } from "./task.ts";

/** The parameters of an elicitation as a question. */
export const toQuestion = (key: string, params: Members): Question => {
  const { message, requestedSchema, url } = params;
  return {
    key,
    message: typeof message === "string" ? message : "",
    ...(requestedSchema === undefined ? {} : { schema: toMembers(requestedSchema) }),
    ...(typeof url === "string" ? { url } : {}),
  };
};

/** The questions in the `inputRequests` of an answer. What is no elicitation cannot be put to a person and is left out. */
export const toQuestions = (requests: unknown): readonly Question[] =>
  Object.entries(toMembers(requests)).flatMap(([key, request]) => {
    const { method, params } = toMembers(request);
    return method === "elicitation/create" ? [toQuestion(key, toMembers(params))] : [];
  });

/** What an elicitation is answered with. */
export const toElicitResult = ({ action, content }: GivenAnswer): Members =>
  action === "accept" && content !== undefined ? { action, content } : { action };

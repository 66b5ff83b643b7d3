import { type ExecutionQuestion, isObject, type JsonObject } from "@taskbridge/core/adapter";
import type { OpenCallback } from "./fold-callbacks.ts";
import { readParameters } from "./read-parameters.ts";

/** States without a timeout have one of three years, which says nothing. */
const maxMs = 366 * 24 * 60 * 60 * 1_000;

/** Undefined for an ID that is not of this adapter. */
export const parseQuestionId = (id: string): number | undefined => {
  const [, eventId] = /^sfn:(\d{1,9})$/.exec(id) ?? [];
  return eventId === undefined ? undefined : Number(eventId);
};

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;

/** Shorter, it is no token that AWS makes, and may stand in any word. */
const shortestToken = 16;

/** An author may put the token into a link, which is the store's alone. */
const blank = (text: string, token: string): string =>
  token.length < shortestToken
    ? text
    : [token, encodeURIComponent(token)].reduce((rest, secret) => rest.replaceAll(secret, "[token]"), text);

/** Where its author says nothing. The title stands beside the one field of the form. */
const anyObject: JsonObject = { type: "object", title: "Answer as a JSON object, {} if there is nothing to say" };

/**
 * A wait as a question, which its author's map `mcp` puts into words: `{ message, requestedSchema }`, or without a schema an approval,
 * answered with `{}`. Without `mcp` the state's name asks for any object. Undefined when it lacks a token.
 */
export const toQuestion = ({ id, at, state, task }: OpenCallback): ExecutionQuestion | undefined => {
  const { token, mcp } = readParameters(task.parameters);
  if (token === undefined) return undefined;
  const { timeoutMs, heartbeatMs } = task;
  const schema = mcp === undefined ? anyObject : mcp.requestedSchema;
  return {
    id: `sfn:${id}`,
    message: blank(textOf(mcp?.message) ?? `${state ?? "The state machine"} waits for an answer`, token),
    ...(isObject(schema) ? { schema: JSON.parse(blank(JSON.stringify(schema), token)) as JsonObject } : {}),
    secret: token,
    ...(timeoutMs !== undefined && timeoutMs <= maxMs ? { expiresAt: at + timeoutMs } : {}),
    ...(heartbeatMs !== undefined && heartbeatMs > 0 ? { heartbeatMs } : {}),
  };
};

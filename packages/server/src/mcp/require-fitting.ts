import { BridgeError, type GivenAnswer, type JsonObject, type PrepareQuestion } from "@taskbridge/core";
import { compileCheck, type JsonSchemaCheck } from "../json-schema-check.ts";

/** Questions come from code, which may make a new schema each time: the memory is bounded. */
const checks = new Map<string, JsonSchemaCheck>();
const maxChecks = 200;

const questionCheck = (schema: JsonObject, path: string): JsonSchemaCheck => {
  const key = JSON.stringify(schema);
  const known = checks.get(key) ?? compileCheck(schema, path);
  if (!checks.has(key)) {
    if (checks.size >= maxChecks) checks.clear();
    checks.set(key, known);
  }
  return known;
};

/**
 * Checks an answer to a question that a tool asks before anything starts. Throws `invalid_input` with `path`, which says
 * where the client has put the content, as `data.path`.
 */
export const requireFitting = ({ schema }: PrepareQuestion, answer: GivenAnswer, path: string): void => {
  if (answer.action !== "accept" || schema === undefined) return;
  const fault = questionCheck(schema, path)(answer.content);
  if (fault !== undefined) throw new BridgeError("invalid_input", `${path}: ${fault}`, { data: { path } });
};

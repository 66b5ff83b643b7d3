import type { JsonObject } from "@taskbridge/core";
import { compileCheck, type JsonSchemaCheck } from "../json-schema-check.ts";

/** Questions come from code, which may make a new schema each time: the memory is bounded. */
const checks = new Map<string, JsonSchemaCheck>();
const maxChecks = 200;

/** The check of a question that a tool asks before anything starts. */
export const questionCheck = (schema: JsonObject, path: string): JsonSchemaCheck => {
  const key = JSON.stringify(schema);
  const known = checks.get(key) ?? compileCheck(schema, path);
  if (!checks.has(key)) {
    if (checks.size >= maxChecks) checks.clear();
    checks.set(key, known);
  }
  return known;
};

import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** A file in `schemas/`. */
export type SchemaName = "2025-11-25" | "2026-07-28" | "ext-tasks" | "sep-1686";

/** A value and the definition of an official schema that it has to fit, or of ours where there is no official one. */
export interface Expectation {
  readonly schema: SchemaName;
  /** A name under `$defs`. */
  readonly definition: string;
  readonly value: unknown;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const compiled = new Map<string, ValidateFunction>();

/** What does not fit, in one line; undefined when all does. Throws for a definition that does not exist. */
export const findFault = ({ schema, definition, value }: Expectation): string | undefined => {
  const validate = compile(schema, definition);
  if (validate(value)) return undefined;
  return `${schema} ${definition}: ${ajv.errorsText(validate.errors, { dataVar: "value" })}`;
};

const compile = (schema: SchemaName, definition: string): ValidateFunction => {
  const reference = `${toKey(schema)}#/$defs/${definition}`;
  const known = compiled.get(reference);
  if (known !== undefined) return known;
  if (ajv.getSchema(toKey(schema)) === undefined) ajv.addSchema(read(schema));
  const validate = ajv.compile({ $ref: reference });
  compiled.set(reference, validate);
  return validate;
};

/** Schemas refer to their own parts from their root: each needs an identity, and not all bring one along. */
const toKey = (schema: SchemaName): string => `golden:${schema}`;

const read = (schema: SchemaName): object => {
  const text = readFileSync(new URL(`schemas/${schema}.schema.json`, import.meta.url), "utf8");
  return { ...(JSON.parse(text) as object), $id: toKey(schema) };
};

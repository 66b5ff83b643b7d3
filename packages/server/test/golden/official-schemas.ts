import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { definitions20251125 } from "./definitions-2025-11-25.ts";
import { definitions20260728, definitionsExtTasks } from "./definitions-2026-07-28.ts";
import type { Definitions } from "./standard-schema.ts";

/** Where a definition comes from: the official package of a revision or extension, or `schemas/sep-1686.schema.json`. */
export type SchemaName = "2025-11-25" | "2026-07-28" | "ext-tasks" | "sep-1686";

/** A value and the definition of an official schema that it has to fit, or of ours where there is no official one. */
export interface Expectation {
  readonly schema: SchemaName;
  readonly definition: string;
  readonly value: unknown;
}

const packages: Readonly<Record<Exclude<SchemaName, "sep-1686">, Definitions>> = {
  "2025-11-25": definitions20251125,
  "2026-07-28": definitions20260728,
  "ext-tasks": definitionsExtTasks,
};

/** What does not fit, in one line; undefined when all does. Throws for a definition that does not exist. */
export const findFault = ({ schema, definition, value }: Expectation): string | undefined => {
  const faults = schema === "sep-1686" ? ajvFaults(definition, value) : packageFaults(schema, definition, value);
  return faults.length === 0 ? undefined : `${schema} ${definition}: ${faults.join(", ")}`;
};

const packageFaults = (schema: keyof typeof packages, definition: string, value: unknown): readonly string[] => {
  const schemas = packages[schema][definition];
  if (schemas === undefined) throw new Error(`${schema} has no definition ${definition}`);
  return schemas.flatMap(({ "~standard": standard }) => {
    const outcome = standard.validate(value);
    if (outcome instanceof Promise) throw new Error(`${schema} ${definition} is not checked at once`);
    return (outcome.issues ?? []).map(({ path = [], message }) => `value/${path.map(toName).join("/")} ${message}`);
  });
};

const toName = (step: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof step === "object" ? step.key : step);

const ajv = new Ajv2020({ strict: false, allErrors: true });
const sep1686 = new URL("schemas/sep-1686.schema.json", import.meta.url);
const compiled = new Map<string, ValidateFunction>();

const ajvFaults = (definition: string, value: unknown): readonly string[] => {
  const validate = compiled.get(definition) ?? compile(definition);
  return validate(value) ? [] : [ajv.errorsText(validate.errors, { dataVar: "value" })];
};

const compile = (definition: string): ValidateFunction => {
  if (ajv.getSchema("sep-1686") === undefined) {
    ajv.addSchema(JSON.parse(readFileSync(sep1686, "utf8")) as object, "sep-1686");
  }
  const validate = ajv.compile({ $ref: `sep-1686#/$defs/${definition}` });
  compiled.set(definition, validate);
  return validate;
};

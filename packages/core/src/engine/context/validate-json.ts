import { Ajv2020, type Options, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { BridgeError } from "../../contract/bridge-error.ts";
import type { JsonObject } from "../../contract/json-value.ts";

/** Checks a value and gives the first fault as `path: what is wrong`, or undefined. */
export type JsonCheck = (value: unknown) => string | undefined;

const options: Options = {
  strict: false,
  allErrors: false,
  allowUnionTypes: true,
  validateFormats: true,
  logger: false,
};

/** Knows what a schema may be. Compiling the dialect's own schema takes tens of milliseconds, so it is done once, for all. */
const dialect = new Ajv2020(options);

/**
 * Compiles JSON Schemas (2020-12, MCP's default dialect), each once. Schemas of questions come from jobs, so the memory
 * is bounded. An unusable schema is `misconfigured` with `data.path`.
 */
export const jsonChecks = (remembered = 500): ((schema: JsonObject, path: string) => JsonCheck) => {
  const compiled = new Map<string, JsonCheck>();
  return (schema, path) => {
    const text = JSON.stringify(schema);
    const known = compiled.get(text);
    if (known !== undefined) return known;
    const check = compileCheck(schema, path);
    if (compiled.size >= remembered) compiled.delete(compiled.keys().next().value as string);
    compiled.set(text, check);
    return check;
  };
};

const compileCheck = (schema: JsonObject, path: string): JsonCheck => {
  let validate: ValidateFunction;
  try {
    if (!dialect.validateSchema(schema)) throw new Error(dialect.errorsText(dialect.errors, { dataVar: "schema" }));
    // A validator of its own for each schema: two tools may both say `$id: "input"`.
    const ajv = new Ajv2020({ ...options, validateSchema: false });
    addFormats.default(ajv);
    validate = ajv.compile(schema);
  } catch (error) {
    throw new BridgeError("misconfigured", `${path}: not a usable JSON Schema: ${(error as Error).message}`, {
      data: { path },
      cause: error,
    });
  }
  return (value) => {
    if (validate(value)) return undefined;
    const fault = validate.errors?.[0];
    if (fault === undefined) return "not valid";
    const where = fault.instancePath.slice(1).replaceAll("/", ".");
    const extra = fault.keyword === "additionalProperties" ? ` (${String(fault.params.additionalProperty)})` : "";
    const allowed = fault.keyword === "enum" ? ` ${JSON.stringify(fault.params.allowedValues)}` : "";
    return `${where === "" ? "" : `${where}: `}${fault.message ?? fault.keyword}${extra}${allowed}`;
  };
};

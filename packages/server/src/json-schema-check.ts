import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { BridgeError, type JsonObject } from "@taskbridge/core";

/** What is wrong with a value, or undefined when it fits. */
export type JsonSchemaCheck = (value: unknown) => string | undefined;

/** Making a validator takes some ten milliseconds. Questions come from code, which may make a new schema each time: so memory is bounded. */
const compiled = new Map<string, JsonSchemaCheck>();
const maxCompiled = 200;

/**
 * Compiles a JSON Schema, each once while it is remembered, with the validator that MCP clients use as well, so that both ends judge alike. Throws
 * `misconfigured` with `data.path` for one that cannot be used.
 */
export const compileCheck = (schema: JsonObject, path: string): JsonSchemaCheck => {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const check = compile(JSON.parse(text), path);
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(text, check);
  return check;
};

const compile = (schema: Record<string, unknown>, path: string): JsonSchemaCheck => {
  try {
    // A validator of its own for each schema: two tools may both say `$id: "output"`.
    const validate = new AjvJsonSchemaValidator().getValidator<unknown>(schema);
    return (value) => {
      const outcome = validate(value);
      return outcome.valid ? undefined : (outcome.errorMessage ?? "it does not fit");
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new BridgeError("misconfigured", `${path}: not a usable JSON Schema: ${message}`, {
      data: { path },
      cause: error,
    });
  }
};

import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { BridgeError, type JsonObject } from "@taskbridge/core";

/** What is wrong with a value, or undefined when it fits. */
export type JsonSchemaCheck = (value: unknown) => string | undefined;

/**
 * Compiles a JSON Schema with the validator that MCP clients use as well, so that both ends judge alike. Throws
 * `misconfigured` with `data.path` for one that cannot be used.
 */
export const compileCheck = (schema: JsonObject, path: string): JsonSchemaCheck => {
  try {
    // A validator of its own for each schema: two tools may both say `$id: "output"`.
    const validate = new AjvJsonSchemaValidator().getValidator<unknown>(schema as Record<string, unknown>);
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

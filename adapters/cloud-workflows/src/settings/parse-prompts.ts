import { isObject, type JsonObject, misconfigured, refuseOtherMembers, showValue } from "@taskbridge/core/adapter";

/** What is asked by a step that waits for a callback. */
export interface Prompt {
  readonly message?: string;
  /** JSON Schema of the body that is sent to the callback. Default: any object. */
  readonly schema?: JsonObject;
  /** The workflow reads `action` from the body: `decline` and `cancel` are sent as `{ action }`. Default false: there is no refusal. */
  readonly declinable?: boolean;
}

/** By the workflow's name, then by the step's (`step`, or `routine.step` outside of `main`). */
export type Prompts = Readonly<Record<string, Readonly<Record<string, Prompt>>>>;

/** An answer with this member could not be told from a refusal. */
export const usesAction = (schema: JsonObject | undefined): boolean =>
  isObject(schema?.properties) && Object.hasOwn(schema.properties, "action");

const parsePrompt = (value: unknown, path: string): Prompt => {
  if (!isObject(value))
    throw misconfigured(path, `must be { message?, schema?, declinable? }, got ${showValue(value)}`);
  refuseOtherMembers(value, ["message", "schema", "declinable"], `${path}.`, "unknown member");
  const { message, schema, declinable } = value;
  if (message !== undefined && (typeof message !== "string" || message.trim() === ""))
    throw misconfigured(`${path}.message`, `must be a text, got ${showValue(message)}`);
  if (schema !== undefined && !isObject(schema))
    throw misconfigured(`${path}.schema`, `must be a JSON Schema, got ${showValue(schema)}`);
  if (declinable !== undefined && typeof declinable !== "boolean")
    throw misconfigured(`${path}.declinable`, `must be true or false, got ${showValue(declinable)}`);
  if (declinable === true && usesAction(schema as JsonObject | undefined))
    throw misconfigured(`${path}.schema`, "has a member `action`, by which a declinable step hears of refusals");
  return {
    ...(message === undefined ? {} : { message }),
    ...(schema === undefined ? {} : { schema: schema as JsonObject }),
    ...(declinable === undefined ? {} : { declinable }),
  };
};

const mapAt = <Value>(value: unknown, path: string, parse: (value: unknown, path: string) => Value) => {
  if (!isObject(value)) throw misconfigured(path, `must be a map, got ${showValue(value)}`);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, parse(item, `${path}.${name}`)]));
};

/** The option `questions`. Throws `misconfigured` with `data.path`. */
export const parsePrompts = (value: unknown): Prompts =>
  value === undefined ? {} : mapAt(value, "questions", (steps, path) => mapAt(steps, path, parsePrompt));

/** Anything JSON can carry. Adapters and stores exchange nothing else. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined;
}

/** Whether something is a map of members, as JSON has it: neither null nor a list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

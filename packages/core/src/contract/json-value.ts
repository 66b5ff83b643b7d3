/** Anything JSON can carry. Adapters and stores exchange nothing else. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [member: string]: JsonValue | undefined;
}

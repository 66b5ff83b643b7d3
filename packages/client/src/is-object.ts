/** The members of an object that came over the wire, not looked at yet. */
export type Members = Readonly<Record<string, unknown>>;

/** Whether a value of unknown origin is a JSON object. */
export const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value where it is an object, else an empty one: servers are read loosely. */
export const toMembers = (value: unknown): Members => (isObject(value) ? value : {});

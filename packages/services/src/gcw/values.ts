/** A value of a workflow. Integers are bigints, since they have 64 bits; doubles are numbers. Nothing changes a value in place. */
export type Value = null | boolean | bigint | number | string | Uint8Array | readonly Value[] | ValueMap;
export type ValueMap = ReadonlyMap<string, Value>;

/** What a step raised. */
export class WorkflowError extends Error {
  override readonly name = "WorkflowError";
  readonly value: Value;
  constructor(value: Value) {
    const message = isMap(value) ? (value.get("message") ?? null) : value;
    super(typeof message === "string" ? message : toJson(value));
    this.value = value;
  }
}

export type Tag =
  | "AuthError"
  | "ConnectionError"
  | "ConnectionFailedError"
  | "HttpError"
  | "IndexError"
  | "KeyError"
  | "RecursionError"
  | "ResourceLimitError"
  | "TimeoutError"
  | "TypeError"
  | "UnhandledBranchError"
  | "ValueError"
  | "ZeroDivisionError";

/** An error that the engine itself raises. */
export const errorOf = (tag: Tag, message: string, more: Readonly<Record<string, Value>> = {}): WorkflowError =>
  new WorkflowError(new Map<string, Value>(Object.entries({ message, tags: [tag], ...more })));

export const isMap = (value: unknown): value is ValueMap => value instanceof Map;
export const isList = (value: unknown): value is readonly Value[] => Array.isArray(value);
export const isNumber = (value: unknown): value is number | bigint =>
  typeof value === "number" || typeof value === "bigint";

export const typeOf = (value: Value): string => {
  if (value === null) return "null";
  if (isMap(value)) return "map";
  if (isList(value)) return "list";
  if (typeof value === "object") return "bytes";
  return { bigint: "integer", number: "double" }[String(typeof value)] ?? typeof value;
};

export const isEqual = (one: Value, other: Value): boolean => {
  // Of an integer and a double JavaScript compares the exact numbers, though only by these operators.
  if (isNumber(one) && isNumber(other)) return one <= other && one >= other;
  if (isList(one) && isList(other))
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index] ?? null));
  if (isMap(one) && isMap(other))
    return (
      one.size === other.size &&
      [...one].every(([key, item]) => other.has(key) && isEqual(item, other.get(key) ?? null))
    );
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) === 0;
  return one === other;
};

/** JSON into a value. A number without a fraction or an exponent stays an integer, which `JSON.parse` alone would round. */
export const parseJson = (text: string): Value => {
  JSON.parse(text);
  const marked = text.replace(/"((?:[^"\\]|\\.)*)"|-?\d[\d.eE+-]*/g, (token: string, inner: string | undefined) =>
    inner === undefined ? `"n${token}"` : `"s${inner}"`,
  );
  return unmark(JSON.parse(marked));
};

const unmark = (marked: unknown): Value => {
  if (typeof marked === "string") {
    const text = marked.slice(1);
    if (marked[0] === "s") return text;
    return /[.eE]/.test(text) ? Number(text) : BigInt(text);
  }
  if (Array.isArray(marked)) return marked.map(unmark);
  if (typeof marked !== "object" || marked === null) return marked === true || (marked === false ? false : null);
  return new Map(Object.entries(marked).map(([key, item]) => [key.slice(1), unmark(item)]));
};

/** @throws A TypeError of workflows for bytes, which JSON does not have. */
export const toJson = (value: Value): string => {
  if (isList(value)) return `[${value.map(toJson).join()}]`;
  if (isMap(value)) return `{${[...value].map(([key, item]) => `${JSON.stringify(key)}:${toJson(item)}`).join()}}`;
  if (value instanceof Uint8Array) throw errorOf("TypeError", "bytes have no form in JSON");
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
};

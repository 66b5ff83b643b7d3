import type { JsonObject, JsonValue } from "@taskbridge/core";

/** One member of an answer. */
export interface QuestionField {
  readonly name: string;
  readonly label: string;
  /** What may be typed: `yes or no`, `a number`, `one of: a, b`. */
  readonly hint: string;
  readonly required: boolean;
  readonly fallback?: JsonValue;
  /** The value that a typed line means, or undefined when it means none. */
  parse(line: string): JsonValue | undefined;
}

/** The members that a question's schema asks for, in its order. */
export const questionFields = (schema: JsonObject | undefined): readonly QuestionField[] => {
  const properties = (schema?.["properties"] ?? {}) as Readonly<Record<string, JsonObject>>;
  const required = (schema?.["required"] ?? []) as readonly string[];
  return Object.entries(properties).map(([name, member]) => ({
    name,
    label: text(member["title"]) ?? text(member["description"]) ?? name,
    required: required.includes(name),
    ...(member["default"] === undefined ? {} : { fallback: member["default"] }),
    ...readerFor(member),
  }));
};

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const readerFor = (member: JsonObject): Pick<QuestionField, "hint" | "parse"> => {
  const choices = choicesOf(member);
  if (choices !== undefined) {
    return {
      hint: `one of: ${choices.map(({ label }) => label).join(", ")}`,
      parse: (line) => choices.find(({ label, value }) => line === label || line === String(value))?.value,
    };
  }
  switch (member["type"]) {
    case "boolean":
      return { hint: "yes or no", parse: parseBoolean };
    case "integer":
      return { hint: "a whole number", parse: (line) => (/^-?\d+$/.test(line) ? Number(line) : undefined) };
    case "number":
      return {
        hint: "a number",
        parse: (line) => (line !== "" && Number.isFinite(Number(line)) ? Number(line) : undefined),
      };
    case "string":
      return { hint: text(member["format"]) ?? "text", parse: (line) => line };
    default:
      return { hint: "JSON", parse: parseJson };
  }
};

const choicesOf = (member: JsonObject): readonly { value: JsonValue; label: string }[] | undefined => {
  if (Array.isArray(member["enum"])) return member["enum"].map((value) => ({ value, label: String(value) }));
  if (!Array.isArray(member["oneOf"])) return undefined;
  const choices = (member["oneOf"] as readonly JsonObject[]).filter((choice) => choice["const"] !== undefined);
  return choices.map((choice) => {
    const value = choice["const"] as JsonValue;
    return { value, label: text(choice["title"]) ?? String(value) };
  });
};

const parseBoolean = (line: string): boolean | undefined => {
  if (/^(y|yes|true)$/i.test(line)) return true;
  return /^(n|no|false)$/i.test(line) ? false : undefined;
};

const parseJson = (line: string): JsonValue | undefined => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

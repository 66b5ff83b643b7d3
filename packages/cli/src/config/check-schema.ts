import { readFileSync } from "node:fs";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { closestName } from "./closest-name.ts";
import { type ConfigPath, formatPath } from "./config-path.ts";

export interface SchemaFault {
  readonly path: ConfigPath;
  readonly message: string;
}

/** The published schema, which editors use, too. */
export const configSchema = (): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL("../../taskbridge.schema.json", import.meta.url), "utf8"));

/**
 * Checks a configuration against the published JSON Schema and gives every fault in our words. Text that was put in for a
 * `${…}` becomes a number or boolean where the schema wants one; messages never show such text.
 */
export const checkSchema = (value: unknown, replaced: ReadonlySet<string>): readonly SchemaFault[] => {
  const validate = compileSchema();
  for (;;) {
    if (validate(value)) return [];
    const errors = validate.errors ?? [];
    if (!errors.some((error) => convertReplaced(value, error, replaced))) return toFaults(errors, value, replaced);
  }
};

let compiled: ValidateFunction | undefined;

const compileSchema = (): ValidateFunction => {
  if (compiled !== undefined) return compiled;
  // A test has checked the schema itself: doing it at every start would take longer than all the rest.
  const ajv = new Ajv2020({ allErrors: true, verbose: true, allowUnionTypes: true, validateSchema: false });
  ajv.addKeyword("x-expects");
  compiled = ajv.compile(configSchema());
  return compiled;
};

const toFaults = (errors: ErrorObject[], root: unknown, replaced: ReadonlySet<string>): readonly SchemaFault[] => {
  const faults = new Map<string, SchemaFault>();
  for (const error of errors) {
    const fault = toFault(error, root, replaced);
    if (fault === undefined) continue;
    // The first fault of a place says enough: an empty name is also one of the wrong characters.
    const location = formatPath(fault.path);
    if (!faults.has(location)) faults.set(location, fault);
  }
  return [...faults.values()];
};

const toFault = (error: ErrorObject, root: unknown, replaced: ReadonlySet<string>): SchemaFault | undefined => {
  const path = toPath(error.instancePath, root);
  const got = replaced.has(formatPath(path)) ? "the text put in for a ${…}" : describe(error.data);
  switch (error.keyword) {
    case "additionalProperties": {
      const name = String(error.params["additionalProperty"]);
      const known = Object.keys((error.parentSchema?.["properties"] as object | undefined) ?? {});
      return { path: [...path, name], message: `unknown member; ${suggestion(name, known)}` };
    }
    case "required":
      return { path: [...path, String(error.params["missingProperty"])], message: "missing" };
    case "type":
      return { path, message: `${typeNames(error.params["type"])} is needed, got ${got}` };
    case "enum": {
      const allowed = (error.params["allowedValues"] as unknown[]).map(String);
      const meant = typeof error.data === "string" ? closestName(error.data, allowed) : undefined;
      const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
      return { path, message: `must be ${alternatives(allowed)}, got ${got}${hint}` };
    }
    case "pattern":
      // Of a member name, the message comes with `propertyNames`.
      if (error.propertyName !== undefined) return undefined;
      return { path, message: `must be ${error.parentSchema?.["x-expects"] ?? "of another form"}, got ${got}` };
    case "propertyNames": {
      const schema = error.schema as Record<string, unknown>;
      return {
        path: [...path, String(error.params["propertyName"])],
        message: `the name must be ${schema["x-expects"]}`,
      };
    }
    case "minimum":
      return { path, message: `at least ${error.params["limit"]} is needed, got ${got}` };
    case "maximum":
      return { path, message: `at most ${error.params["limit"]} is allowed, got ${got}` };
    case "minLength":
      if (error.params["limit"] > 1) {
        // Never what is there: text that must be long is mostly a secret.
        return { path, message: `at least ${error.params["limit"]} characters are needed` };
      }
      return { path, message: "must not be empty" };
    case "minItems":
    case "minProperties":
      return { path, message: "must not be empty" };
    case "uniqueItems": {
      const { i, j } = error.params as { i: number; j: number };
      return { path: [...path, Math.max(i, j)], message: `the same as [${Math.min(i, j)}]` };
    }
    case "if":
      return undefined;
    default:
      return { path, message: error.message ?? error.keyword };
  }
};

/** Only ajv knows that an array is meant; a JSON pointer writes positions and names alike. */
const toPath = (pointer: string, root: unknown): ConfigPath => {
  let node = root;
  return pointer
    .split("/")
    .slice(1)
    .map((part) => {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const isPosition = Array.isArray(node);
      node = (node as Record<string, unknown> | undefined)?.[name];
      return isPosition ? Number(name) : name;
    });
};

/** Gives text from a substitution the type that its place wants. Returns whether it did. */
const convertReplaced = (root: unknown, error: ErrorObject, replaced: ReadonlySet<string>): boolean => {
  const path = toPath(error.instancePath, root);
  if (error.keyword !== "type" || typeof error.data !== "string" || !replaced.has(formatPath(path))) return false;
  const wanted = [error.params["type"]].flat() as string[];
  const converted = convert(error.data, wanted);
  const last = path.at(-1);
  if (converted === undefined || last === undefined) return false;
  const parent = path.slice(0, -1).reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], root);
  (parent as Record<string, unknown>)[last] = converted;
  return true;
};

const convert = (text: string, wanted: readonly string[]): number | boolean | undefined => {
  if (wanted.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  const isNumeric = wanted.includes("integer") || wanted.includes("number");
  return isNumeric && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
};

const suggestion = (name: string, known: readonly string[]): string => {
  const meant = closestName(name, known);
  return meant === undefined ? `known here: ${known.join(", ")}` : `did you mean ${meant}?`;
};

const alternatives = (names: readonly string[]): string =>
  names.length === 1 ? String(names[0]) : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;

const typeName: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "a mapping",
  array: "a list",
  null: "null",
};

const typeNames = (types: unknown): string => alternatives([types].flat().map((type) => typeName[String(type)] ?? ""));

const describe = (value: unknown): string => {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
};

import { toText } from "./operators.ts";
import {
  errorOf,
  isList,
  isMap,
  isNumber,
  parseJson,
  type Tag,
  toJson,
  typeOf,
  type Value,
  type ValueMap,
} from "./values.ts";

/** A function of the standard library that does not block, so that expressions may call it. */
export interface PureFunction {
  /** In the order of an expression's arguments; a `?` at the end marks one that may be left out. */
  readonly params: readonly string[];
  run(args: Arguments, environment: Readonly<Record<string, string>>): Value;
}

/** The arguments of one call by name. Each verb throws a TypeError of workflows for a value of another type. */
export interface Arguments {
  has(name: string): boolean;
  any(name: string): Value;
  text(name: string): string;
  number(name: string): number | bigint;
  list(name: string): readonly Value[];
  map(name: string): ValueMap;
  /** Bytes, or a text as UTF-8. */
  bytes(name: string): Uint8Array;
}

export const toArguments = (of: string, given: ValueMap): Arguments => {
  const any = (name: string): Value => given.get(name) ?? null;
  const as = <Wanted extends Value>(name: string, wanted: string, is: (value: Value) => value is Wanted): Wanted => {
    const value = any(name);
    if (is(value)) return value;
    throw errorOf("TypeError", `${of}: ${name} is of type ${typeOf(value)}, a ${wanted} is needed`);
  };
  const isBytes = (value: Value): value is string | Uint8Array =>
    typeof value === "string" || value instanceof Uint8Array;
  return {
    has: (name) => given.has(name),
    any,
    text: (name) => as(name, "string", (value) => typeof value === "string"),
    number: (name) => as(name, "number", isNumber),
    list: (name) => as(name, "list", isList),
    map: (name) => as(name, "map", isMap),
    bytes: (name) => Buffer.from(as(name, "string or bytes", isBytes) as string),
  };
};

const pure = (params: string, run: PureFunction["run"]): PureFunction => ({
  params: params === "" ? [] : params.split(" "),
  run,
});

const toInteger = (value: Value): Value => {
  if (typeof value === "bigint") return value;
  if (typeof value === "number" && Number.isFinite(value)) return BigInt(Math.trunc(value));
  if (typeof value === "string" && /^\s*[-+]?\d+\s*$/.test(value)) return BigInt(value.trim().replace(/^\+/, ""));
  throw errorOf(typeof value === "string" ? "ValueError" : "TypeError", "int: this is no integer");
};

const toDouble = (value: Value): Value => {
  if (isNumber(value)) return Number(value);
  if (typeof value === "string" && value.trim() !== "" && !Number.isNaN(Number(value))) return Number(value);
  throw errorOf(typeof value === "string" ? "ValueError" : "TypeError", "double: this is no number");
};

const lengthOf = (value: Value): bigint => {
  if (typeof value === "string") return BigInt([...value].length);
  if (isList(value)) return BigInt(value.length);
  if (isMap(value)) return BigInt(value.size);
  throw errorOf("TypeError", `len: a value of type ${typeOf(value)} has no length`);
};

/** The key of a map, or a list of keys, each one level deeper. Null where there is none. */
const getIn = (map: Value, keys: Value): Value => {
  let found = map;
  for (const key of isList(keys) ? keys : [keys])
    found = isMap(found) && typeof key === "string" ? (found.get(key) ?? null) : null;
  return found;
};

const mergeNested = (one: ValueMap, other: ValueMap): ValueMap => {
  const merged = new Map(one);
  for (const [key, value] of other) {
    const before = merged.get(key);
    merged.set(key, isMap(before) && isMap(value) ? mergeNested(before, value) : value);
  }
  return merged;
};

const regexOf = (args: Arguments): RegExp => {
  try {
    return new RegExp(args.text("regexp"), "gu");
  } catch {
    throw errorOf("ValueError", `${args.text("regexp")} is no regular expression`);
  }
};

/** Indexes count characters, as `len` does. */
const charactersBefore = (text: string, at: number): bigint => BigInt([...text.slice(0, at)].length);

const findAll = (args: Arguments): Value => {
  const [source, part] = [args.text("source"), args.text("substr")];
  const found: bigint[] = [];
  for (let at = source.indexOf(part); part !== "" && at >= 0; at = source.indexOf(part, at + part.length))
    found.push(charactersBefore(source, at));
  return found;
};

const substring = (args: Arguments): Value => {
  const characters = [...args.text("source")];
  const [start, end] = [Number(args.number("start")), Number(args.number("end"))];
  if (start < 0 || end > characters.length || start > end)
    throw errorOf("IndexError", `text.substring: ${start} to ${end} is outside a text of ${characters.length}`);
  return characters.slice(start, end).join("");
};

/** In the text of a replacement RE2 has \1 for a group. */
const replacement = (text: string): string =>
  text.replaceAll("$", "$$$$").replace(/\\(\d)/g, (_, group: string) => (group === "0" ? "$&" : `$${group}`));

const decodeJson = (args: Arguments): Value => {
  try {
    return parseJson(Buffer.from(args.bytes("data")).toString());
  } catch {
    throw errorOf("ValueError", "json.decode: this is no JSON");
  }
};

const ordered = (args: Arguments): readonly [Value, Value] => {
  const [x, y] = [args.number("x"), args.number("y")];
  return x > y ? [y, x] : [x, y];
};

const fromBase64 = (args: Arguments): Value => {
  const data = args.text("data");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(data)) throw errorOf("ValueError", "base64.decode: this is no Base64");
  return Buffer.from(data, "base64");
};

const environmentOf = (args: Arguments, environment: Readonly<Record<string, string>>): Value => {
  const name = args.text("name");
  if (Object.hasOwn(environment, name)) return environment[name] ?? null;
  if (args.has("default_value")) return args.any("default_value");
  throw errorOf("KeyError", `sys.get_env: there is no ${name}`);
};

/** Whether `http.default_retry` and its like retry after this error. */
const retries =
  (codes: readonly number[], tags: readonly Tag[]) =>
  (args: Arguments): boolean => {
    const code = getIn(args.any("exception"), "code");
    const found = getIn(args.any("exception"), "tags");
    if (isList(found) && found.some((tag) => tags.some((one) => one === tag))) return true;
    return isNumber(code) && codes.includes(Number(code));
  };

export const functions: Readonly<Record<string, PureFunction>> = {
  default: pure("val defaultVal", (args) => args.any("val") ?? args.any("defaultVal")),
  if: pure("condition ifTrue ifFalse", (args) => args.any(args.any("condition") === true ? "ifTrue" : "ifFalse")),
  int: pure("value", (args) => toInteger(args.any("value"))),
  double: pure("value", (args) => toDouble(args.any("value"))),
  string: pure("value", (args) => toText(args.any("value"))),
  keys: pure("map", (args) => [...args.map("map").keys()]),
  len: pure("value", (args) => lengthOf(args.any("value"))),
  "base64.decode": pure("data", fromBase64),
  "base64.encode": pure("data", (args) => Buffer.from(args.bytes("data")).toString("base64")),
  "json.decode": pure("data", decodeJson),
  "json.encode": pure("data", (args) => Buffer.from(toJson(args.any("data")))),
  "json.encode_to_string": pure("data", (args) => toJson(args.any("data"))),
  "list.concat": pure("objs val", (args) => [...args.list("objs"), args.any("val")]),
  "list.prepend": pure("objs val", (args) => [args.any("val"), ...args.list("objs")]),
  "map.delete": pure("map key", (args) => new Map([...args.map("map")].filter(([key]) => key !== args.text("key")))),
  "map.get": pure("map keys", (args) => getIn(args.any("map"), args.any("keys"))),
  "map.merge": pure("first second", (args) => new Map([...args.map("first"), ...args.map("second")])),
  "map.merge_nested": pure("first second", (args) => mergeNested(args.map("first"), args.map("second"))),
  "math.abs": pure("x", (args) => {
    const x = args.number("x");
    return x < 0 ? -x : x;
  }),
  "math.floor": pure("x", (args) => BigInt(Math.floor(Number(args.number("x"))))),
  "math.max": pure("x y", (args) => ordered(args)[1]),
  "math.min": pure("x y", (args) => ordered(args)[0]),
  "sys.get_env": pure("name default_value?", environmentOf),
  "sys.now": pure("", () => Date.now() / 1000),
  "text.decode": pure("data", (args) => Buffer.from(args.bytes("data")).toString()),
  "text.encode": pure("text", (args) => Buffer.from(args.text("text"))),
  "text.find_all": pure("source substr", findAll),
  "text.find_all_regex": pure("source regexp", (args) =>
    [...args.text("source").matchAll(regexOf(args))].map(
      ({ 0: match, index }) =>
        new Map<string, Value>([
          ["index", charactersBefore(args.text("source"), index)],
          ["match", match],
        ]),
    ),
  ),
  "text.match_regex": pure("source regexp", (args) => regexOf(args).test(args.text("source"))),
  "text.replace_all": pure("source substr repl", (args) =>
    args.text("source").replaceAll(args.text("substr"), () => args.text("repl")),
  ),
  "text.replace_all_regex": pure("source regexp repl", (args) =>
    args.text("source").replace(regexOf(args), replacement(args.text("repl"))),
  ),
  "text.split": pure("source separator", (args) => {
    const separator = args.text("separator");
    return separator === "" ? [...args.text("source")] : args.text("source").split(separator);
  }),
  "text.substring": pure("source start end", substring),
  "text.to_lower": pure("input", (args) => args.text("input").toLowerCase()),
  "text.to_upper": pure("input", (args) => args.text("input").toUpperCase()),
  "http.default_retry_predicate": pure(
    "exception",
    retries([429, 502, 503, 504], ["ConnectionError", "ConnectionFailedError", "TimeoutError"]),
  ),
  "http.default_retry_predicate_non_idempotent": pure("exception", retries([429, 503], ["ConnectionFailedError"])),
};

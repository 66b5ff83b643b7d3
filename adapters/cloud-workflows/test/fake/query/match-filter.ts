import { invalidArgument } from "../google-error.ts";
import type { Comparator, Filter, Restriction } from "./parse-filter.ts";

/** What a field holds: all values that may match, none where it has none. */
export interface Field<Item> {
  readonly kind: "text" | "enum" | "time" | "duration" | "number" | "boolean";
  readonly read: (item: Item) => readonly (string | number | boolean)[];
}

export interface FieldSet<Item> {
  readonly fields: Readonly<Record<string, Field<Item>>>;
  /** `name.KEY`. */
  readonly maps?: Readonly<Record<string, (item: Item) => Readonly<Record<string, string>>>>;
}

export type Predicate<Item> = (item: Item) => boolean;

/** Refuses fields that are not there, comparisons that make no sense, and values of another kind. */
export const toPredicate = <Item>(filter: Filter, set: FieldSet<Item>): Predicate<Item> => {
  switch (filter.kind) {
    case "not": {
      const part = toPredicate(filter.part, set);
      return (item) => !part(item);
    }
    case "restriction":
      return restrict(filter, set);
    default: {
      const parts = filter.parts.map((part) => toPredicate(part, set));
      return filter.kind === "and"
        ? (item) => parts.every((part) => part(item))
        : (item) => parts.some((part) => part(item));
    }
  }
};

const restrict = <Item>({ path, comparator, value }: Restriction, set: FieldSet<Item>): Predicate<Item> => {
  const [name = "", key] = path;
  const map = Object.hasOwn(set.maps ?? {}, name) ? set.maps?.[name] : undefined;
  if (map !== undefined && path.length <= 2) return inMap(map, key, comparator, value);
  const field = Object.hasOwn(set.fields, name) ? set.fields[name] : undefined;
  if (field === undefined || path.length > 1)
    throw invalidArgument(`Invalid filter: unknown field '${path.join(".")}'`);
  if (["enum", "boolean"].includes(field.kind) && !["=", "!=", ":"].includes(comparator))
    throw invalidArgument(`Invalid filter: '${comparator}' cannot be used with '${name}'`);
  const wanted = toValue(field.kind, name, value);
  return (item) => {
    const values = field.read(item);
    if (comparator === "!=") return !values.includes(wanted);
    return values.some((one) => compare(one, comparator, wanted));
  };
};

const inMap = <Item>(
  map: (item: Item) => Readonly<Record<string, string>>,
  key: string | undefined,
  comparator: Comparator,
  value: string,
): Predicate<Item> => {
  // `labels:fruit` asks for the key alone.
  if (key === undefined && comparator === ":") return (item) => Object.hasOwn(map(item), value);
  if (key === undefined) throw invalidArgument("Invalid filter: a map needs a key");
  if (comparator === ":" && value === "*") return (item) => Object.hasOwn(map(item), key);
  if (comparator === "=" || comparator === ":")
    return (item) => Object.hasOwn(map(item), key) && map(item)[key] === value;
  if (comparator === "!=") return (item) => !Object.hasOwn(map(item), key) || map(item)[key] !== value;
  throw invalidArgument(`Invalid filter: '${comparator}' cannot be used with a label`);
};

const compare = (
  one: string | number | boolean,
  comparator: Comparator,
  wanted: string | number | boolean,
): boolean => {
  switch (comparator) {
    case "<":
      return one < wanted;
    case "<=":
      return one <= wanted;
    case ">":
      return one > wanted;
    case ">=":
      return one >= wanted;
    default:
      return one === wanted;
  }
};

const toValue = (kind: Field<never>["kind"], name: string, text: string): string | number | boolean => {
  const value = { text: String, enum: String, time: toInstant, duration: toMs, number: Number, boolean: toBoolean }[
    kind
  ](text);
  if (value === undefined || Number.isNaN(value))
    throw invalidArgument(`Invalid filter: '${text}' is no value of '${name}'`);
  return value;
};

/** A day or an instant: `startTime>"2023-08-01"` is documented. */
const toInstant = (text: string): number => (/^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN);

const toMs = (text: string): number => (/^-?\d+(\.\d+)?s$/.test(text) ? Number.parseFloat(text) * 1_000 : Number.NaN);

const toBoolean = (text: string): boolean | undefined =>
  ["true", "false"].includes(text) ? text === "true" : undefined;

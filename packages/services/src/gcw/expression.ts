import { add, arithmetic, compare, contains } from "./operators.ts";
import { errorOf, isEqual, isList, isMap, typeOf, type Value } from "./values.ts";

/** What an expression may read. */
export interface Reads {
  variable(name: string): Value;
  call(name: string, args: readonly Value[]): Value;
}

export type Expression =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "member"; readonly of: Expression; readonly key: Expression }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Expression[] }
  | { readonly kind: "list"; readonly items: readonly Expression[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: "unary"; readonly operator: string; readonly of: Expression }
  | { readonly kind: "binary"; readonly operator: string; readonly left: Expression; readonly right: Expression };

/** From the loosest to the tightest: "Order of operations" in the reference of the syntax. */
const levels = [["or"], ["and"], ["<", "<=", ">", ">=", "==", "!=", "in"], ["+", "-"], ["*", "/", "//", "%"]];
const words: Readonly<Record<string, string>> = { AND: "and", OR: "or", NOT: "not", IN: "in" };
const constants: Readonly<Record<string, Value>> = {
  ...{ true: true, True: true, TRUE: true },
  ...{ false: false, False: false, FALSE: false, null: null },
};
const token =
  /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_][A-Za-z0-9_]*)|(\/\/|<=|>=|==|!=|[-+*/%<>()[\]{}.,:]))/y;

interface Token {
  readonly kind: "number" | "text" | "name" | "sign";
  readonly text: string;
}

const toTokens = (source: string): readonly Token[] => {
  const tokens: Token[] = [];
  const trimmed = source.trimEnd();
  for (token.lastIndex = 0; token.lastIndex < trimmed.length; ) {
    const at = token.lastIndex;
    const [, number, text, name, sign] = token.exec(trimmed) ?? [];
    if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (text !== undefined) tokens.push({ kind: "text", text });
    else if (name !== undefined) tokens.push({ kind: "name", text: words[name] ?? name });
    else if (sign !== undefined) tokens.push({ kind: "sign", text: sign });
    else throw new SyntaxError(`${trimmed.slice(at).trim()} is not understood`);
  }
  return tokens;
};

const toText = (literal: string): string => {
  const inner = literal.slice(1, -1).replaceAll("\n", "\\n").replaceAll("\\'", "'");
  return JSON.parse(`"${literal[0] === "'" ? inner.replaceAll('"', '\\"') : inner}"`);
};

/** @throws SyntaxError */
export const parseExpression = (source: string): Expression => {
  const tokens = toTokens(source);
  let next = 0;
  const isNext = (...texts: readonly string[]): boolean => {
    const found = tokens[next];
    return found !== undefined && found.kind !== "text" && texts.includes(found.text);
  };
  const take = (): Token => {
    const taken = tokens[next++];
    if (taken === undefined) throw new SyntaxError(`${source.trim()} ends too soon`);
    return taken;
  };
  const skip = (text: string): boolean => {
    const is = isNext(text);
    if (is) next++;
    return is;
  };
  const expect = (text: string): void => {
    if (!skip(text)) throw new SyntaxError(`${source.trim()} lacks a ${text}`);
  };
  const many = <Item>(close: string, item: () => Item): Item[] => {
    const items: Item[] = [];
    while (!skip(close)) {
      if (items.length > 0) expect(",");
      items.push(item());
    }
    return items;
  };
  const binary = (level: number): Expression => {
    const operators = levels[level];
    if (operators === undefined) return unary();
    let left = binary(level + 1);
    while (isNext(...operators)) left = { kind: "binary", operator: take().text, left, right: binary(level + 1) };
    return left;
  };
  const unary = (): Expression => {
    if (isNext("-", "not")) return { kind: "unary", operator: take().text, of: unary() };
    return postfix();
  };
  const postfix = (): Expression => {
    let of = primary();
    let name = of.kind === "variable" ? of.name : undefined;
    for (;;) {
      if (skip(".")) {
        const key = take();
        if (key.kind !== "name") throw new SyntaxError(`${source.trim()} has no name after a dot`);
        of = { kind: "member", of, key: { kind: "value", value: key.text } };
        name = name === undefined ? undefined : `${name}.${key.text}`;
      } else if (skip("[")) {
        of = { kind: "member", of, key: binary(0) };
        name = undefined;
        expect("]");
      } else if (name !== undefined && skip("(")) {
        of = { kind: "call", name, args: many(")", () => binary(0)) };
        name = undefined;
      } else return of;
    }
  };
  const primary = (): Expression => {
    const { kind, text } = take();
    if (kind === "number") return { kind: "value", value: /[.eE]/.test(text) ? Number(text) : BigInt(text) };
    if (kind === "text") return { kind: "value", value: toText(text) };
    if (kind === "name" && text in constants) return { kind: "value", value: constants[text] ?? null };
    if (kind === "name") return { kind: "variable", name: text };
    if (text === "[") return { kind: "list", items: many("]", () => binary(0)) };
    if (text === "{")
      return {
        kind: "map",
        entries: many("}", () => {
          const key = binary(0);
          expect(":");
          return [key, binary(0)];
        }),
      };
    if (text !== "(") throw new SyntaxError(`${source.trim()}: ${text} is not expected`);
    const inner = binary(0);
    expect(")");
    return inner;
  };
  const parsed = binary(0);
  if (next < tokens.length) throw new SyntaxError(`${source.trim()}: ${tokens[next]?.text} is not expected`);
  return parsed;
};

/** Every function that an expression calls. */
export const callsIn = (expression: Expression): readonly string[] => {
  const { kind } = expression;
  if (kind === "value" || kind === "variable") return [];
  if (kind === "call") return [expression.name, ...expression.args.flatMap(callsIn)];
  if (kind === "list") return expression.items.flatMap(callsIn);
  if (kind === "map") return expression.entries.flat().flatMap(callsIn);
  if (kind === "member") return [...callsIn(expression.of), ...callsIn(expression.key)];
  if (kind === "unary") return callsIn(expression.of);
  return [...callsIn(expression.left), ...callsIn(expression.right)];
};

export const member = (of: Value, key: Value): Value => {
  if (isMap(of)) {
    const found = typeof key === "string" ? of.get(key) : undefined;
    if (found === undefined) throw errorOf("KeyError", `the map has no key ${JSON.stringify(String(key))}`);
    return found;
  }
  if (!isList(of)) throw errorOf("TypeError", `a value of type ${typeOf(of)} has no members`);
  return of[indexIn(of, key)] ?? null;
};

/** @throws When the list has no such index. */
export const indexIn = (list: readonly Value[], key: Value): number => {
  if (typeof key !== "bigint") throw errorOf("TypeError", `the index of a list is of type ${typeOf(key)}`);
  if (key < 0n || key >= list.length) throw errorOf("IndexError", `index ${key} is outside a list of ${list.length}`);
  return Number(key);
};

export const evaluate = (expression: Expression, reads: Reads): Value => {
  const of = (one: Expression): Value => evaluate(one, reads);
  const truth = (one: Expression): boolean => {
    const value = of(one);
    if (typeof value !== "boolean") throw errorOf("TypeError", `a condition is of type ${typeOf(value)}`);
    return value;
  };
  switch (expression.kind) {
    case "value":
      return expression.value;
    case "variable":
      return reads.variable(expression.name);
    case "member":
      return member(of(expression.of), of(expression.key));
    case "list":
      return expression.items.map(of);
    case "map":
      return new Map(expression.entries.map(([key, value]) => [String(of(key)), of(value)]));
    case "call":
      return reads.call(expression.name, expression.args.map(of));
    case "unary":
      return expression.operator === "not" ? !truth(expression.of) : arithmetic("-", 0n, of(expression.of));
  }
  const { operator, left, right } = expression;
  if (operator === "and") return truth(left) && truth(right);
  if (operator === "or") return truth(left) || truth(right);
  const [one, other] = [of(left), of(right)];
  if (operator === "==" || operator === "!=") return isEqual(one, other) === (operator === "==");
  if (operator === "in") return contains(other, one);
  if (operator === "+") return add(one, other);
  return /[<>]/.test(operator) ? compare(operator, one, other) : arithmetic(operator, one, other);
};

import { add, arithmetic, compare, contains } from "./operators.ts";
import { errorOf, isEqual, isList, isMap, typeOf, type Value } from "./values.ts";

/** What an expression may read. */
export interface Reads {
  variable(name: string): Value;
  call(name: string, args: readonly Value[]): Value;
}

export type Expression = (reads: Reads) => Value;

export interface Parsed {
  readonly evaluate: Expression;
  /** Of a variable or an element of it, which may be assigned: its keys from the outside inward. */
  readonly target?: { readonly name: string; readonly path: readonly Expression[] };
}

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

/**
 * @param onCall is given the name of each function that the expression calls.
 * @throws SyntaxError
 */
export const parseExpression = (source: string, onCall: (name: string) => void): Parsed => {
  const tokens = toTokens(source);
  let next = 0;
  const wrong = (why: string): SyntaxError => new SyntaxError(`${source.trim()} ${why}`);
  const isNext = (...texts: readonly string[]): boolean => {
    const found = tokens[next];
    return found !== undefined && found.kind !== "text" && texts.includes(found.text);
  };
  const take = (): Token => {
    const taken = tokens[next++];
    if (taken === undefined) throw wrong("ends too soon");
    return taken;
  };
  const skip = (text: string): boolean => {
    const is = isNext(text);
    if (is) next++;
    return is;
  };
  const expect = (text: string): void => {
    if (!skip(text)) throw wrong(`lacks a ${text}`);
  };
  const whole = (): Expression => binary(0).evaluate;
  const many = <Item>(close: string, item: () => Item): Item[] => {
    const items: Item[] = [];
    while (!skip(close)) {
      if (items.length > 0) expect(",");
      items.push(item());
    }
    return items;
  };
  const binary = (level: number): Parsed => {
    const operators = levels[level];
    if (operators === undefined) return unary();
    let left = binary(level + 1);
    while (isNext(...operators)) {
      const [operator, one, other] = [take().text, left.evaluate, binary(level + 1).evaluate];
      left = { evaluate: (reads) => operate(operator, one, other, reads) };
    }
    return left;
  };
  const unary = (): Parsed => {
    if (skip("not")) {
      const of = unary().evaluate;
      return { evaluate: (reads) => !truth(of(reads)) };
    }
    if (!skip("-")) return postfix();
    const of = unary().evaluate;
    return { evaluate: (reads) => arithmetic("-", 0n, of(reads)) };
  };
  const postfix = (): Parsed => {
    let of = primary();
    // While there are only names and dots, it may be the name of a function.
    let name = of.target?.name;
    for (;;) {
      const isName = skip(".");
      if (!isName && name !== undefined && skip("(")) {
        of = call(name);
        name = undefined;
        continue;
      }
      if (!isName && !skip("[")) return of;
      const word = isName ? take() : undefined;
      if (isName && word?.kind !== "name") throw wrong("has no name after a dot");
      const key = word === undefined ? whole() : () => word.text;
      if (!isName) expect("]");
      const { evaluate, target } = of;
      of = {
        evaluate: (reads) => member(evaluate(reads), key(reads)),
        ...(target && { target: { name: target.name, path: [...target.path, key] } }),
      };
      name = word === undefined || name === undefined ? undefined : `${name}.${word.text}`;
    }
  };
  const call = (name: string): Parsed => {
    onCall(name);
    const args = many(")", whole);
    return {
      evaluate: (reads) =>
        reads.call(
          name,
          args.map((arg) => arg(reads)),
        ),
    };
  };
  const primary = (): Parsed => {
    const { kind, text } = take();
    const constant = (value: Value): Parsed => ({ evaluate: () => value });
    if (kind === "number") return constant(/[.eE]/.test(text) ? Number(text) : BigInt(text));
    if (kind === "text") return constant(toText(text));
    if (kind === "name" && Object.hasOwn(constants, text)) return constant(constants[text] ?? null);
    if (kind === "name") return { evaluate: (reads) => reads.variable(text), target: { name: text, path: [] } };
    if (text === "[") {
      const items = many("]", whole);
      return { evaluate: (reads) => items.map((item) => item(reads)) };
    }
    if (text !== "(") throw wrong(`has a ${text} that is not expected`);
    const inner = whole();
    expect(")");
    return { evaluate: inner };
  };
  const parsed = binary(0);
  if (next < tokens.length) throw wrong(`has a ${tokens[next]?.text} that is not expected`);
  return parsed;
};

const truth = (value: Value): boolean => {
  if (typeof value !== "boolean") throw errorOf("TypeError", `a condition is of type ${typeOf(value)}`);
  return value;
};

const operate = (operator: string, left: Expression, right: Expression, reads: Reads): Value => {
  if (operator === "and") return truth(left(reads)) && truth(right(reads));
  if (operator === "or") return truth(left(reads)) || truth(right(reads));
  const [one, other] = [left(reads), right(reads)];
  if (operator === "==" || operator === "!=") return isEqual(one, other) === (operator === "==");
  if (operator === "in") return contains(other, one);
  if (operator === "+") return add(one, other);
  return /[<>]/.test(operator) ? compare(operator, one, other) : arithmetic(operator, one, other);
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

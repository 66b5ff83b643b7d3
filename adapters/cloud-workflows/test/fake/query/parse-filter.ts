import { invalidArgument } from "../google-error.ts";

export type Comparator = "=" | "!=" | "<" | "<=" | ">" | ">=" | ":";

/** `labels."fruit":"apple"` is `{ path: ["labels", "fruit"], comparator: ":", value: "apple" }`. */
export interface Restriction {
  readonly kind: "restriction";
  readonly path: readonly string[];
  readonly comparator: Comparator;
  readonly value: string;
}

export type Filter =
  | Restriction
  | { readonly kind: "and" | "or"; readonly parts: readonly Filter[] }
  | { readonly kind: "not"; readonly part: Filter };

interface Token {
  readonly kind: "word" | "text" | "sign";
  readonly text: string;
}

const tokenPattern =
  /\s+|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(<=|>=|!=|[=<>:().])|(-(?=[\w("]))|([^\s"'=<>!:().]+)/gy;

const tokenize = (filter: string): readonly Token[] => {
  const tokens: Token[] = [];
  let end = 0;
  for (const [all, double, single, sign, minus, word] of filter.matchAll(tokenPattern)) {
    end += all.length;
    const text = double ?? single;
    if (text !== undefined) tokens.push({ kind: "text", text: text.replace(/\\(.)/g, "$1") });
    else if (sign !== undefined) tokens.push({ kind: "sign", text: sign });
    else if (minus !== undefined) tokens.push({ kind: "word", text: "NOT" });
    else if (word !== undefined) tokens.push({ kind: "word", text: word });
  }
  if (end !== filter.length) throw invalidArgument(`Invalid filter at position ${end}: ${filter}`);
  return tokens;
};

const comparators: ReadonlySet<string> = new Set<Comparator>(["=", "!=", "<", "<=", ">", ">=", ":"]);
const isComparator = (text: string): text is Comparator => comparators.has(text);

/**
 * The grammar of AIP-160, in which OR binds more strongly than AND, without functions and without bare words.
 * https://google.aip.dev/160
 */
export const parseFilter = (filter: string): Filter => {
  const tokens = tokenize(filter);
  let next = 0;
  const wrong = (): Error => invalidArgument(`Invalid filter: ${filter}`);
  const peek = (): Token | undefined => tokens[next];
  const take = (): Token => {
    const token = tokens[next];
    if (token === undefined) throw wrong();
    next += 1;
    return token;
  };
  const isSign = (text: string): boolean => peek()?.kind === "sign" && peek()?.text === text;
  const isWord = (text: string): boolean => peek()?.kind === "word" && peek()?.text === text;

  const all = (): Filter => {
    const parts = [either()];
    while (peek() !== undefined && !isSign(")")) {
      // A sequence without AND is one all the same.
      if (isWord("AND")) take();
      parts.push(either());
    }
    return parts.length === 1 ? (parts[0] as Filter) : { kind: "and", parts };
  };
  const either = (): Filter => {
    const parts = [term()];
    while (isWord("OR")) {
      take();
      parts.push(term());
    }
    return parts.length === 1 ? (parts[0] as Filter) : { kind: "or", parts };
  };
  const term = (): Filter => {
    if (isWord("NOT")) {
      take();
      return { kind: "not", part: term() };
    }
    if (!isSign("(")) return restriction();
    take();
    const inner = all();
    if (!isSign(")")) throw wrong();
    take();
    return inner;
  };
  const restriction = (): Restriction => {
    const first = take();
    if (first.kind !== "word" || ["AND", "OR"].includes(first.text)) throw wrong();
    const path = [first.text];
    while (isSign(".")) {
      take();
      const part = take();
      if (part.kind === "sign") throw wrong();
      path.push(part.text);
    }
    const comparator = take();
    if (comparator.kind !== "sign" || !isComparator(comparator.text)) throw wrong();
    return { kind: "restriction", path, comparator: comparator.text, value: value() };
  };
  const value = (): string => {
    const first = take();
    if (first.kind === "sign") throw wrong();
    let text = first.text;
    // `1.5s` without quotes
    while (first.kind === "word" && isSign(".")) text += take().text + take().text;
    return text;
  };

  const parsed = all();
  if (next !== tokens.length) throw wrong();
  return parsed;
};

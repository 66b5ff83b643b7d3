import { invalid } from "./api-error.ts";
import type { Execution } from "./execution.ts";

type Matches = (execution: Execution) => boolean;

const token = /\s*("(?:[^"\\]|\\.)*"|[()]|>=|<=|!=|[=<>:]|[^\s()"=<>!:]+)/y;

const toTokens = (text: string): string[] => {
  const tokens: string[] = [];
  const trimmed = text.trim();
  for (token.lastIndex = 0; token.lastIndex < trimmed.length; ) {
    const at = token.lastIndex;
    const [, found] = token.exec(trimmed) ?? [];
    if (found === undefined) throw invalid(`filter: ${trimmed.slice(at)} is not understood`);
    tokens.push(found);
  }
  return tokens;
};

const unquote = (text: string): string => text.replace(/^"(.*)"$/s, "$1").replaceAll('\\"', '"');

/**
 * A filter of AIP-160 with comparisons of the fields below, AND, OR and parentheses, where OR binds tighter than AND.
 * @throws An ApiError for everything else: a filter that is not understood must not pass for one that matches.
 */
export const parseFilter = (text: string): Matches => {
  const tokens = toTokens(text);
  let next = 0;
  if (tokens.length === 0) return () => true;
  const take = (): string => {
    const taken = tokens[next++];
    if (taken === undefined || /^[()]$/.test(taken)) throw invalid("filter: a comparison ends too soon");
    return taken;
  };
  const chain = (word: string, part: () => Matches): Matches[] => {
    const parts = [part()];
    while (tokens[next] === word) {
      next++;
      parts.push(part());
    }
    return parts;
  };
  const all = (): Matches => {
    const parts = chain("AND", any);
    return (execution) => parts.every((part) => part(execution));
  };
  const any = (): Matches => {
    const parts = chain("OR", term);
    return (execution) => parts.some((part) => part(execution));
  };
  const term = (): Matches => {
    if (tokens[next] !== "(") {
      const field = take();
      // A key may be in quotes.
      return comparison(field === "labels." ? field + unquote(take()) : field, take(), unquote(take()));
    }
    next++;
    const inner = all();
    if (tokens[next++] !== ")") throw invalid("filter: a ) is missing");
    return inner;
  };
  const matches = all();
  if (next < tokens.length) throw invalid(`filter: ${tokens[next]} is not understood`);
  return matches;
};

const comparison = (field: string, operator: string, value: string): Matches => {
  if (field === "createTime" || field === "startTime") return timeComparison(operator, value);
  const read = fieldOf(field);
  if (!["=", "!=", ":"].includes(operator)) throw invalid(`filter: ${field} ${operator} is not understood`);
  return (execution) => {
    const found = read(execution);
    return found !== undefined && (found === value) === (operator !== "!=");
  };
};

const fieldOf = (field: string): ((execution: Execution) => string | undefined) => {
  if (field.startsWith("labels.")) return ({ labels }) => labels.get(field.slice("labels.".length));
  if (field === "state") return ({ state }) => state;
  if (field === "executionId") return ({ id }) => id;
  if (field === "workflowRevisionId") return ({ revision }) => revision;
  throw invalid(`filter: there is no field ${field}`);
};

const timeComparison = (operator: string, value: string): Matches => {
  const than = /^\d{4}-\d\d-\d\d(T.+)?$/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(than)) throw invalid(`filter: ${value} is no time`);
  const holds = {
    "=": (at: number) => at === than,
    "<": (at: number) => at < than,
    "<=": (at: number) => at <= than,
    ">": (at: number) => at > than,
    ">=": (at: number) => at >= than,
  }[operator];
  if (holds === undefined) throw invalid(`filter: a time ${operator} is not understood`);
  return ({ createdAt }) => holds(createdAt);
};

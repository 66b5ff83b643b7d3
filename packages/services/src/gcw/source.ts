import { parseDocument } from "yaml";
import { blockingCalls } from "./blocking-calls.ts";
import { type Expression, type Parsed, parseExpression } from "./expression.ts";
import { functions, toArguments } from "./functions.ts";
import type { Routine, Thread } from "./run.ts";
import { readVariable, type Scope } from "./scope.ts";
import { errorOf, isList, isMap, type Value, type ValueMap } from "./values.ts";

/** A workflow that cannot be deployed. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

/** What surrounds a step that is compiled. */
export interface Context {
  readonly routine: string;
  readonly step: string;
  readonly routines: ReadonlyMap<string, Routine>;
  /** Every step of the routine so far: their names are unique. */
  readonly names: Set<string>;
  /** Steps that `next` may lead to. */
  readonly targets: ReadonlySet<string>;
  /** Which of `break` and `continue` have a loop. */
  readonly loop: readonly string[];
  readonly isInBranch: boolean;
}

export const refuse = ({ routine, step }: Pick<Context, "routine" | "step">, why: string): SourceError =>
  new SourceError(`${step === "" ? "" : `step ${step}, `}routine ${routine}: ${why}`);

export const unsupported = (context: Context, name: string): SourceError =>
  refuse(context, `\`${name}\` is not supported by this engine`);

/** YAML or JSON, which is YAML too. */
export const parseSource = (text: string): Value => {
  const document = parseDocument(text, { intAsBigInt: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw new SourceError(problem.message);
  return toValue(document.toJS({ mapAsMap: true }));
};

const toValue = (parsed: unknown): Value => {
  if (Array.isArray(parsed)) return parsed.map(toValue);
  if (parsed instanceof Map) return new Map([...parsed].map(([key, value]) => [String(key), toValue(value)]));
  return (parsed ?? null) as Value;
};

export const fieldsOf = (context: Context, value: Value | undefined, what: string): ValueMap => {
  if (!isMap(value)) throw refuse(context, `\`${what}\` is not a map`);
  return value;
};

export const itemsOf = (context: Context, value: Value | undefined, what: string): readonly Value[] => {
  if (!isList(value) || value.length === 0) throw refuse(context, `\`${what}\` is not a list with at least one entry`);
  return value;
};

/** The only entry of a map, which gives a value its name. */
export const namedItem = (context: Context, value: Value, what: string): readonly [string, Value] => {
  const [entry, ...more] = isMap(value) ? value : [];
  if (entry === undefined || more.length > 0)
    throw refuse(context, `an entry of \`${what}\` is not one name with a value`);
  return entry;
};

export const onlyFields = (context: Context, fields: ValueMap, known: readonly string[], within = ""): void => {
  for (const name of fields.keys()) if (!known.includes(name)) throw unsupported(context, within + name);
};

export const nameOf = (context: Context, value: Value | undefined, what: string): string => {
  if (typeof value !== "string" || !/^[A-Za-z_]\w*$/.test(value)) throw refuse(context, `\`${what}\` is not a name`);
  return value;
};

export const toExpression = (context: Context, text: string): Parsed => {
  const check = (name: string): void => {
    if (Object.hasOwn(blockingCalls, name) || context.routines.has(name))
      throw unsupported(context, `${name}\` in an expression, in place of \`call`);
    if (!Object.hasOwn(functions, name)) throw unsupported(context, name);
  };
  try {
    return parseExpression(text, check);
  } catch (error) {
    throw error instanceof SyntaxError ? refuse(context, `expression: ${error.message}`) : error;
  }
};

const callFunction = (name: string, args: readonly Value[], { run }: Thread): Value => {
  const { params, run: apply } = functions[name] as (typeof functions)[string];
  const names = params.map((param) => param.replace("?", ""));
  const min = params.filter((param) => !param.endsWith("?")).length;
  if (args.length < min || args.length > names.length)
    throw errorOf("TypeError", `${name} takes ${params.join(", ") || "no argument"}`);
  const given = new Map(args.map((value, index) => [names[index] ?? "", value]));
  return apply(toArguments(name, given), run.host.environment);
};

export const evaluateIn = (expression: Expression, scope: Scope, thread: Thread): Value =>
  expression({
    variable: (name) => readVariable(scope, name),
    call: (name, args) => callFunction(name, args, thread),
  });

export type Evaluated = (scope: Scope, thread: Thread) => Value;

/** A value as the source has it, in which texts and keys may be expressions. */
export const toEvaluated = (context: Context, value: Value): Evaluated => {
  if (isList(value)) {
    const items = value.map((item) => toEvaluated(context, item));
    return (scope, thread) => items.map((item) => item(scope, thread));
  }
  if (isMap(value)) {
    const entries = [...value].map(([key, item]) => [toEvaluated(context, key), toEvaluated(context, item)] as const);
    return (scope, thread) => new Map(entries.map(([key, item]) => [String(key(scope, thread)), item(scope, thread)]));
  }
  const [, code] = typeof value === "string" ? (/^\$\{(.*)\}$/s.exec(value.trim()) ?? []) : [];
  if (code === undefined) return () => value;
  const { evaluate } = toExpression(context, code);
  return (scope, thread) => evaluateIn(evaluate, scope, thread);
};

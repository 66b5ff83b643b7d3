import { functions, toArguments } from "./functions.ts";
import { callRoutine, type Thread } from "./run.ts";
import type { Scope } from "./scope.ts";
import * as source from "./source.ts";
import { errorOf, isNumber, toJson, type Value } from "./values.ts";

type Context = source.Context;
type Retry = (error: Value, attempt: number, scope: Scope, thread: Thread) => Promise<number | undefined>;

const policies: Readonly<Record<string, string>> = {
  "http.default_retry": "http.default_retry_predicate",
  "http.default_retry_non_idempotent": "http.default_retry_predicate_non_idempotent",
};
/** As `retry.default_backoff` has it, and the count of the default policies. */
const defaults = { max_retries: 5n, initial_delay: 1n, max_delay: 60n, multiplier: 1.25 };

/** How many seconds to wait before the next attempt. Undefined: there is none. */
export const retry = (context: Context, value: Value): Retry => {
  const named = typeof value === "string" ? policies[referenceIn(value)] : undefined;
  if (typeof value === "string" && named === undefined) throw source.unsupported(context, `retry: ${value}`);
  const fields = named === undefined ? source.fieldsOf(context, value, "retry") : new Map<string, Value>();
  source.onlyFields(context, fields, ["predicate", "max_retries", "backoff"], "retry: ");
  const matches = predicate(context, named ?? fields.get("predicate"));
  const given = fields.get("backoff") ?? new Map();
  const isDefault = typeof given === "string" && referenceIn(given) === "retry.default_backoff";
  const backoff = isDefault ? new Map() : source.fieldsOf(context, given, "backoff");
  source.onlyFields(context, backoff, ["initial_delay", "max_delay", "multiplier"], "retry: backoff: ");
  const all = new Map([...fields, ...backoff]);
  const number = (name: keyof typeof defaults) => {
    const evaluated = source.toEvaluated(context, all.get(name) ?? defaults[name]);
    return (scope: Scope, thread: Thread): number => {
      const found = evaluated(scope, thread);
      if (isNumber(found) && found >= 0) return Number(found);
      throw errorOf("ValueError", `\`${name}\` is not a number from 0 on`);
    };
  };
  const [max, initial, maxLength, factor] = (["max_retries", "initial_delay", "max_delay", "multiplier"] as const).map(
    number,
  );
  return async (error, attempts, scope, thread) => {
    const read = (one: typeof max): number => one?.(scope, thread) ?? 0;
    if (attempts >= read(max) || !(await matches(error, thread))) return undefined;
    return Math.min(read(initial) * read(factor) ** attempts, read(maxLength));
  };
};

/** The function that an expression names without calling it. */
const referenceIn = (text: string): string => text.replace(/^\$\{\s*(.*?)\s*\}$/s, "$1");

const predicate = (context: Context, value: Value | undefined) => {
  if (value === undefined) return async () => true;
  const name = typeof value === "string" ? referenceIn(value) : "";
  const routine = context.routines.get(name);
  const [param] = routine?.params.keys() ?? [];
  if (routine !== undefined && param !== undefined)
    return async (error: Value, thread: Thread) =>
      (await callRoutine(routine, new Map([[param, error]]), thread)) === true;
  const pure = Object.values(policies).includes(name) ? functions[name] : undefined;
  if (pure === undefined)
    throw source.unsupported(context, `predicate: ${typeof value === "string" ? value : toJson(value)}`);
  return async (error: Value, { run }: Thread) =>
    pure.run(toArguments(name, new Map([["exception", error]])), run.host.environment) === true;
};

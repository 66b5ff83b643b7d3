import { indexIn } from "./expression.ts";
import { errorOf, isList, isMap, typeOf, type Value } from "./values.ts";

/** The variables of a routine, of an iteration, of an `except` block or of a branch. */
export interface Scope {
  readonly variables: Map<string, Value>;
  /** Absent for a routine. */
  readonly outer?: Scope;
  /** Of a branch: the only variables of outer scopes that it may assign. */
  readonly shared?: ReadonlySet<string>;
}

export const innerScope = (outer: Scope, variables: readonly (readonly [string, Value])[] = []): Scope => ({
  variables: new Map(variables),
  outer,
});

export const readVariable = (scope: Scope, name: string): Value => {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    const value = at.variables.get(name);
    if (value !== undefined) return value;
  }
  throw errorOf("KeyError", `there is no variable ${name}`);
};

/** A variable of an outer scope keeps its place; a new one belongs to the innermost scope. */
export const writeVariable = (scope: Scope, name: string, value: Value): void => {
  let mayWrite = true;
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    if (at.variables.has(name)) {
      if (!mayWrite) throw errorOf("ValueError", `the variable ${name} is not shared with this branch`);
      at.variables.set(name, value);
      return;
    }
    mayWrite &&= at.shared?.has(name) ?? true;
  }
  scope.variables.set(name, value);
};

/** A copy in which a nested element has another value. Maps on the way there are made where they are missing. */
export const withElement = (whole: Value | undefined, path: readonly Value[], value: Value): Value => {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (isList(whole)) {
    const index = indexIn(whole, key);
    return whole.with(index, withElement(whole[index], rest, value));
  }
  if (whole !== undefined && !isMap(whole))
    throw errorOf("TypeError", `a value of type ${typeOf(whole)} has no members`);
  if (typeof key !== "string") throw errorOf("TypeError", `the key of a map is of type ${typeOf(key)}`);
  return new Map(whole ?? []).set(key, withElement(whole?.get(key), rest, value));
};

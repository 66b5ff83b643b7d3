import { errorOf, isEqual, isList, isMap, isNumber, typeOf, type Value, type WorkflowError } from "./values.ts";

const mismatch = (operator: string, one: Value, other: Value): WorkflowError =>
  errorOf("TypeError", `${operator} does not go with ${typeOf(one)} and ${typeOf(other)}`);

/** Integers have 64 bits, with a sign. */
const integer = (value: bigint): bigint => {
  if (BigInt.asIntN(64, value) !== value) throw errorOf("ValueError", `${value} has more than 64 bits`);
  return value;
};

export const toText = (value: Value): string => {
  if (typeof value === "string") return value;
  if (isNumber(value) || typeof value === "boolean") return String(value);
  throw errorOf("TypeError", `a value of type ${typeOf(value)} has no text`);
};

export const add = (one: Value, other: Value): Value => {
  if (typeof one === "string" || typeof other === "string") return toText(one) + toText(other);
  return arithmetic("+", one, other);
};

export const arithmetic = (operator: string, one: Value, other: Value): Value => {
  if (!isNumber(one) || !isNumber(other)) throw mismatch(operator, one, other);
  if (["/", "//", "%"].includes(operator) && Number(other) === 0)
    throw errorOf("ZeroDivisionError", `${operator} has 0 on its right`);
  if (typeof one === "bigint" && typeof other === "bigint" && operator !== "/") {
    if (operator === "+") return integer(one + other);
    if (operator === "-") return integer(one - other);
    if (operator === "*") return integer(one * other);
    // JavaScript rounds toward zero, a floor division downward.
    const remainder = ((one % other) + other) % other;
    return operator === "%" ? remainder : integer((one - remainder) / other);
  }
  const [left, right] = [Number(one), Number(other)];
  if (operator === "+") return left + right;
  if (operator === "-") return left - right;
  if (operator === "*") return left * right;
  if (operator === "//") return Math.floor(left / right);
  if (operator === "%") return left - Math.floor(left / right) * right;
  return left / right;
};

export const compare = (operator: string, one: Value, other: Value): boolean => {
  const areTexts = typeof one === "string" && typeof other === "string";
  if (!areTexts && !(isNumber(one) && isNumber(other))) throw mismatch(operator, one, other);
  const order = one < other ? -1 : one > other ? 1 : 0;
  if (operator === "<") return order < 0;
  if (operator === "<=") return order <= 0;
  return operator === ">" ? order > 0 : order >= 0;
};

/** `in`: a key of a map, an element of a list. */
export const contains = (whole: Value, part: Value): boolean => {
  if (isMap(whole)) return typeof part === "string" && whole.has(part);
  if (isList(whole)) return whole.some((item) => isEqual(item, part));
  throw mismatch("in", part, whole);
};

import { isObject } from "@taskbridge/core/adapter";
import type { StepEntry } from "../google/client.ts";
import { mentions } from "./mentions.ts";
import { stepNames } from "./step-names.ts";

/** A workflow's variable `mcp`, which says what is asked: `{ message?, requestedSchema?, declinable?, step?, url? }`. */
export type McpVariable = Readonly<Record<string, unknown>>;

/** Maps and lists within each other: what is nested deeper is not compared. */
const deepest = 32;

/** The same text for the same value, whatever the order of its members. */
export const toComparable = (value: unknown, depth = 0): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  if (depth >= deepest) return "…";
  if (Array.isArray(value)) return `[${value.map((item) => toComparable(item, depth + 1)).join(",")}]`;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${toComparable(item, depth + 1)}`).join(",")}}`;
};

const holds = (value: unknown, wanted: string, depth = 0): boolean => {
  if (typeof value !== "object" || value === null || depth >= deepest) return false;
  return toComparable(value) === wanted || Object.values(value).some((item) => holds(item, wanted, depth + 1));
};

/** Whether it came with the execution's argument (JSON): a parameter of that name would let a caller write the form that others see. */
const isOfCaller = (mcp: McpVariable, argument: string | undefined): boolean => {
  if (argument === undefined) return false;
  try {
    return holds(JSON.parse(argument), toComparable(mcp));
  } catch {
    return false;
  }
};

const usable = (variable: unknown, callbackId: string, argument: string | undefined): McpVariable | undefined => {
  if (!isObject(variable)) return undefined;
  if (variable.url !== undefined && !mentions(variable.url, callbackId)) return undefined;
  return isOfCaller(variable, argument) ? undefined : variable;
};

/**
 * The variable of the step that waits. It stays in scope for the steps that come after, so that it counts only where it names this step or
 * this callback, and none other.
 */
export const mcpOf = (entry: StepEntry, callbackId: string, argument: string | undefined): McpVariable | undefined => {
  const mcp = usable(entry.variables.mcp, callbackId, argument);
  if (mcp === undefined || (mcp.step === undefined && mcp.url === undefined)) return undefined;
  return mcp.step === undefined || stepNames(entry).some((name) => name === mcp.step) ? mcp : undefined;
};

/** What is asked at this callback whichever step waits for it, as variables with its address say, if they agree. */
export const mcpByAddress = (
  entries: readonly StepEntry[],
  callbackId: string,
  argument: string | undefined,
): McpVariable | undefined => {
  const [first, ...others] = entries
    .map(({ variables }) => usable(variables.mcp, callbackId, argument))
    .filter((mcp) => mcp?.url !== undefined && mcp.step === undefined);
  return others.every((mcp) => toComparable(mcp) === toComparable(first)) ? first : undefined;
};

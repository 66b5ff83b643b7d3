import type { Callback, Step, StepEntry } from "../google/client.ts";
import { isObject } from "../is-object.ts";
import type { Prompt } from "../settings/parse-prompts.ts";

/** What belongs to a callback for certain. */
export interface Match {
  /** The step that waits for it. */
  readonly step?: Step;
  /** The variable `mcp` that says what is asked. */
  readonly mcp?: Readonly<Record<string, unknown>>;
}

/** Steps that are no call of a function: `events.await_callback` is one. Kinds that are not known here may be, too. */
const noCalls =
  /^STEP_(ASSIGN|CONNECTOR_CALL|SUBWORKFLOW_CALL|SWITCH|CONDITION|FOR|FOR_ITERATION|PARALLEL_\w+|TRY|TRY_RETRY_EXCEPT|RETRY|EXCEPT|RETURN|RAISE|GOTO)$/;

/** Those of these steps that hold no others. */
export const callsIn = (entries: readonly StepEntry[]): readonly StepEntry[] =>
  entries.filter(({ type }) => !noCalls.test(type));

/** Maps and lists within each other. */
const deepest = 10;

/** Whether this callback's address stands among these values. */
const mentions = (value: unknown, callbackId: string, depth = 0): boolean => {
  if (typeof value === "string")
    return value.endsWith(`/callbacks/${callbackId}`) || value.endsWith(`/callback/${callbackId}`);
  if (depth >= deepest || typeof value !== "object" || value === null) return false;
  return Object.values(value).some((item) => mentions(item, callbackId, depth + 1));
};

/** Names by which a step is configured. */
const keysOf = ({ routine, step }: Step): readonly string[] =>
  routine === "main" || routine === "" ? [step, `main.${step}`] : [`${routine}.${step}`];

export const promptOf = (step: Step, prompts: Readonly<Record<string, Prompt>>): Prompt | undefined =>
  keysOf(step)
    .map((key) => (Object.hasOwn(prompts, key) ? prompts[key] : undefined))
    .find((prompt) => prompt !== undefined);

const stepOfKey = (key: string): Step => {
  const [step = key, routine = "main"] = key.split(".").reverse();
  return { routine, step };
};

/**
 * The steps that may wait. Where some are configured, those that are not do not wait: the author has named all that do. The step that an
 * execution itself tells is no witness: in parallel branches it is the one that was entered last, in whichever of them.
 */
const candidatesAmong = (
  entries: readonly StepEntry[] | undefined,
  prompts: Readonly<Record<string, Prompt>>,
): readonly Step[] => {
  if (entries === undefined) return Object.keys(prompts).map(stepOfKey);
  const calls = callsIn(entries);
  const configured = calls.filter((step) => promptOf(step, prompts) !== undefined);
  return configured.length > 0 ? configured : calls;
};

const mcpOf = (step: Step | StepEntry): Match["mcp"] =>
  "variables" in step && isObject(step.variables.mcp) && step.variables.mcp.url === undefined
    ? step.variables.mcp
    : undefined;

const toMatch = (step: Step | StepEntry): Match => {
  const mcp = mcpOf(step);
  return { step: { routine: step.routine, step: step.step }, ...(mcp === undefined ? {} : { mcp }) };
};

/**
 * `entries`: every step that goes on, in every branch, read while these callbacks were open; undefined where no history is to be had.
 *
 * Google does not tell which step waits for a callback. It is certain where a variable `mcp` names the callback's address; where one
 * step alone has that address among its variables, and no other open one; and where one step alone can be meant. Else undefined: nobody
 * is to approve one thing while another is done.
 */
export const matchStep = (
  callback: Callback,
  open: readonly Callback[],
  entries: readonly StepEntry[] | undefined,
  prompts: Readonly<Record<string, Prompt>>,
): Match | undefined => {
  const named = (entries ?? [])
    .map(({ variables }) => variables.mcp)
    .filter(isObject)
    .filter(({ url }) => mentions(url, callback.id));
  const [first] = named;
  if (first !== undefined && named.every(({ message }) => message === first.message)) return { mcp: first };
  const holders = callsIn(entries ?? []).filter(({ variables }) => mentions(variables, callback.id));
  const [holder] = holders;
  if (holder !== undefined && holders.length === 1) {
    const isAlone = open.every(({ id }) => id === callback.id || !mentions(holder.variables, id));
    if (isAlone) return toMatch(holder);
  }
  const [only, ...others] = candidatesAmong(entries, prompts);
  return only !== undefined && others.length === 0 && open.length === 1 ? toMatch(only) : undefined;
};

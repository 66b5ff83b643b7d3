import type { Callback, Step, StepEntry } from "../google/client.ts";
import type { Prompt } from "../settings/parse-prompts.ts";
import { type McpVariable, mcpByAddress, mcpOf } from "./mcp-variable.ts";
import { mentions } from "./mentions.ts";
import { stepNames } from "./step-names.ts";

/** What belongs to a callback for certain. */
export interface Match {
  /** The step that waits for it. */
  readonly step?: Step;
  /** That run of the step, where a history tells it. */
  readonly entryId?: string;
  /** What is asked, as a variable says. */
  readonly mcp?: McpVariable;
}

/** What earlier looks have found out about a callback. */
export interface Known {
  /** The run of a step that waits for it: as long as it goes on, it does nothing else. */
  readonly entryId?: string;
  /** Without a history: the execution was seen to be at other steps than the one that is configured. */
  readonly isDoubtful?: boolean;
}

/** What callbacks are matched by. */
export interface Evidence {
  /** Those that somebody waits for, and that nothing was sent to. */
  readonly open: readonly Callback[];
  /** Every step that goes on, in every branch, read while these callbacks were open. Undefined where no history is to be had. */
  readonly entries: readonly StepEntry[] | undefined;
  /** From the execution itself, which need not name every branch; empty where nobody has looked. */
  readonly current: readonly Step[];
  /** Of the workflow, by step. */
  readonly prompts: Readonly<Record<string, Prompt>>;
  /** What the execution was started with: JSON. */
  readonly argument?: string | undefined;
}

/** Steps that are no call of a function: `events.await_callback` is one. Kinds that are not known here may be, too. */
const noCalls =
  /^STEP_(ASSIGN|CONNECTOR_CALL|SUBWORKFLOW_CALL|SWITCH|CONDITION|FOR|FOR_ITERATION|PARALLEL_\w+|TRY|TRY_RETRY_EXCEPT|RETRY|EXCEPT|RETURN|RAISE|GOTO)$/;

/** Those of these steps that hold no others. */
export const callsIn = (entries: readonly StepEntry[]): readonly StepEntry[] =>
  entries.filter(({ type }) => !noCalls.test(type));

export const promptOf = (step: Step, prompts: Evidence["prompts"]): Prompt | undefined =>
  stepNames(step)
    .map((key) => (Object.hasOwn(prompts, key) ? prompts[key] : undefined))
    .find((prompt) => prompt !== undefined);

const onlyOne = <Item>(items: readonly Item[]): Item | undefined => (items.length === 1 ? items[0] : undefined);

/** Where the author says which step waits for which callback. */
const namedEntry = (calls: readonly StepEntry[], { id }: Callback, { argument }: Evidence): StepEntry | undefined =>
  onlyOne(
    calls.filter((entry) => {
      const mcp = mcpOf(entry, id, argument);
      return mcp?.url !== undefined && mcp.step !== undefined;
    }),
  );

/** The step that alone has the callback's address among its variables, and no other open one. */
const holdingEntry = (calls: readonly StepEntry[], callback: Callback, { open }: Evidence): StepEntry | undefined => {
  const holder = onlyOne(calls.filter(({ variables }) => mentions(variables, callback.id)));
  const isAlone = open.every(({ id }) => id === callback.id || !mentions(holder?.variables, id));
  return isAlone ? holder : undefined;
};

/** The only step that may wait. Where some are configured, those that are not do not wait: the author has named all that do. */
const loneEntry = (calls: readonly StepEntry[], { open, prompts }: Evidence): StepEntry | undefined => {
  const configured = calls.filter((step) => promptOf(step, prompts) !== undefined);
  return open.length === 1 ? onlyOne(configured.length > 0 ? configured : calls) : undefined;
};

const waitingEntry = (
  calls: readonly StepEntry[],
  callback: Callback,
  evidence: Evidence,
  known: Known,
): StepEntry | undefined => {
  // Of several that wait for it, one gets the answer.
  if (callback.waiters > 1) return undefined;
  const found =
    namedEntry(calls, callback, evidence) ?? holdingEntry(calls, callback, evidence) ?? loneEntry(calls, evidence);
  const before = calls.find(({ id }) => id === known.entryId);
  // Steps that have begun since, in other branches, change nothing about one that still waits.
  if (before === undefined || found === undefined) return before ?? found;
  return before.id === found.id ? found : undefined;
};

const isConfigured = (step: Step, prompts: Evidence["prompts"]): boolean => promptOf(step, prompts) !== undefined;

/** Without a history: the one step that is configured, unless the execution itself is elsewhere. */
const matchByName = ({ waiters }: Callback, { open, current, prompts }: Evidence, known: Known): Match | undefined => {
  if (Object.keys(prompts).length !== 1 || open.length > 1 || waiters > 1 || known.isDoubtful === true)
    return undefined;
  const step = current.find((one) => isConfigured(one, prompts));
  return step === undefined ? undefined : { step };
};

/**
 * Google does not tell which step waits for a callback. Undefined where it is not certain: nobody is to approve one thing while another is
 * done. Without a history, the step that an execution itself tells is no witness: in parallel branches it is the one that was entered
 * last, in whichever of them.
 */
export const matchStep = (callback: Callback, evidence: Evidence, known: Known): Match | undefined => {
  const { entries, argument } = evidence;
  if (entries === undefined) return matchByName(callback, evidence, known);
  const entry = waitingEntry(callsIn(entries), callback, evidence, known);
  const mcp = entry === undefined ? undefined : mcpOf(entry, callback.id, argument);
  if (entry !== undefined) {
    const { id, routine, step } = entry;
    return { step: { routine, step }, entryId: id, ...(mcp === undefined ? {} : { mcp }) };
  }
  const bound = mcpByAddress(entries, callback.id, argument);
  return bound === undefined ? undefined : { mcp: bound };
};

/** What is known of a callback after a look. */
export const learn = (match: Match | undefined, { entries, current, prompts }: Evidence, known: Known): Known => {
  if (match?.entryId !== undefined) return { ...known, entryId: match.entryId };
  const isElsewhere =
    entries === undefined && current.length > 0 && !current.some((step) => isConfigured(step, prompts));
  return isElsewhere ? { ...known, isDoubtful: true } : known;
};

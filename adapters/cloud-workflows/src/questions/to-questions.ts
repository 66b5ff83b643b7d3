import { createHash } from "node:crypto";
import { type ExecutionQuestion, isObject, type JsonObject } from "@taskbridge/core/adapter";
import type { Callback, StepEntry } from "../google/client.ts";
import { blankCallbacks } from "../mapping/blank-callbacks.ts";
import { toStepsText } from "../mapping/to-snapshot.ts";
import { type Prompt, usesAction } from "../settings/parse-prompts.ts";
import { hasBody, toSecret } from "./callback-secret.ts";
import { callsIn, type Evidence, type Known, learn, type Match, matchStep, promptOf } from "./match-steps.ts";
import { toComparable } from "./mcp-variable.ts";

export interface Waiting extends Omit<Evidence, "open"> {
  readonly workflowId: string;
  /** All callbacks of the execution, whether or not somebody waits for them. */
  readonly callbacks: readonly Callback[];
  /** By callback. */
  readonly known: ReadonlyMap<string, Known>;
}

/** A question with what was found out about its callback. */
export interface Asked {
  readonly callbackId: string;
  readonly question: ExecutionQuestion;
  readonly known: Known;
}

/** A step waits for it, and nothing is on its way to that step. */
export const isOpen = ({ waiters, payloads }: Callback): boolean => waiters > 0 && payloads.length === 0;

/** The step that has gone on for longest. */
const oldestOf = (entries: readonly StepEntry[]): string | undefined =>
  callsIn(entries).reduce<string | undefined>(
    (oldest, { id }) => (oldest === undefined || Number(id) < Number(oldest) ? id : oldest),
    undefined,
  );

/**
 * One run of a step that waits for one callback is one question: a callback that is awaited again is asked anew. Where it is not known
 * which step it is, the question is another one once all that it may have been for are over.
 */
const identify = (callbackId: string, match: Match | undefined, entries: Waiting["entries"]) => {
  const id = `gcw:${callbackId}`;
  if (match?.entryId !== undefined) return { id: `${id}:${match.entryId}`, entryId: match.entryId };
  if (match?.step !== undefined) return { id };
  if (match?.mcp !== undefined)
    return { id: `${id}:${createHash("sha256").update(toComparable(match.mcp)).digest("hex").slice(0, 12)}` };
  const entryId = oldestOf(entries ?? []);
  return entryId === undefined ? { id: `${id}:unmatched` } : { id: `${id}:unmatched:${entryId}`, entryId };
};

/** What is read of a prompt (characters): the engine shows less. */
const maxPrompt = 20_000;

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.slice(0, maxPrompt) : undefined;

/** A schema from a workflow's variable, which may hold anything. */
const schemaOf = (value: unknown): JsonObject | undefined => {
  if (!isObject(value)) return undefined;
  try {
    const text = JSON.stringify(value);
    return text.length > maxPrompt ? undefined : (JSON.parse(blankCallbacks(text)) as JsonObject);
  } catch {
    // Nested too deep to be a form.
    return undefined;
  }
};

const anything: JsonObject = { type: "object" };

const promptFor = ({ step, mcp }: Match, prompts: Waiting["prompts"]): Prompt => {
  const configured = step === undefined ? undefined : promptOf(step, prompts);
  const message = textOf(mcp?.message) ?? configured?.message;
  const schema = schemaOf(mcp?.requestedSchema ?? mcp?.schema) ?? configured?.schema;
  const declinable = typeof mcp?.declinable === "boolean" ? mcp.declinable : configured?.declinable;
  return {
    ...(message === undefined ? {} : { message }),
    ...(schema === undefined ? {} : { schema }),
    declinable: declinable === true && !usesAction(schema),
  };
};

const readable = (name: string): string => name.replaceAll(/[_-]+/g, " ").trim();

/** It is said that nothing is certain. Without a history no step is named: another one may wait by the time of the answer. */
const uncertain = ({ workflowId, entries }: Waiting, open: readonly Callback[], index: number): string => {
  const steps = entries === undefined ? undefined : toStepsText(callsIn(entries));
  const which = open.length === 1 ? "an answer" : `answer ${index + 1} of ${open.length}`;
  const where = steps === undefined ? "" : ` (now at: ${steps})`;
  return `${workflowId} waits for ${which}${where}. Google does not tell which step it is for: whichever waits gets it.`;
};

/** What is open as questions, each with its callback as its secret. */
export const toQuestions = (waiting: Waiting): readonly Asked[] => {
  const open = waiting.callbacks.filter(isOpen);
  const evidence = { ...waiting, open };
  return open.map((callback, index): Asked => {
    const { id: callbackId, method } = callback;
    const before = waiting.known.get(callbackId) ?? {};
    const match = matchStep(callback, evidence, before);
    const { message, schema, declinable = false } = match === undefined ? {} : promptFor(match, waiting.prompts);
    const stepName = match?.step === undefined ? waiting.workflowId : readable(match.step.step);
    const text = match === undefined ? uncertain(waiting, open, index) : (message ?? `${stepName} waits for an answer`);
    const { id, ...awaiting } = identify(callbackId, match, waiting.entries);
    const canRefuse = declinable && hasBody(method);
    const question = {
      id,
      message: blankCallbacks(text),
      ...(hasBody(method) ? { schema: schema ?? anything } : {}),
      secret: toSecret({ callbackId, method, declinable: canRefuse, ...awaiting }),
    };
    return { callbackId, question, known: learn(match, evidence, before) };
  });
};

import type { ExecutionQuestion, JsonObject } from "@taskbridge/core/adapter";
import type { Callback, Step, StepEntry } from "../google/client.ts";
import { isObject } from "../is-object.ts";
import { blankCallbacks } from "../mapping/blank-callbacks.ts";
import { toStepsText } from "../mapping/to-snapshot.ts";
import { type Prompt, usesAction } from "../settings/parse-prompts.ts";
import { hasBody, toSecret } from "./callback-secret.ts";
import { callsIn, type Match, matchStep, promptOf } from "./match-steps.ts";

export interface Waiting {
  readonly workflowId: string;
  /** All callbacks of the execution, whether or not somebody waits for them. */
  readonly callbacks: readonly Callback[];
  /** From the history: every step that goes on, in every branch, read while these callbacks were open. Undefined where none is to be had. */
  readonly entries: readonly StepEntry[] | undefined;
  /** From the execution itself, which need not name every branch. */
  readonly current: readonly Step[];
  /** Of the workflow, by step. */
  readonly prompts: Readonly<Record<string, Prompt>>;
}

/** A step waits for it, and nothing is on its way to that step. */
export const isOpen = ({ waiters, payloads }: Callback): boolean => waiters > 0 && payloads.length === 0;

/** Where it is not certain which step it is for, the ID is another one, so that it is asked anew once that is certain. */
const toQuestionId = (callbackId: string, isMatched: boolean): string =>
  `gcw:${callbackId}${isMatched ? "" : ":unmatched"}`;

/** Whether a question is still open by a later list. */
export const isOpenIn = (callbacks: readonly Callback[], questionId: string): boolean =>
  callbacks.some(
    (callback) =>
      isOpen(callback) && [true, false].some((isMatched) => toQuestionId(callback.id, isMatched) === questionId),
  );

/** What is read of a prompt (characters): the engine shows less. */
const mostPrompt = 20_000;

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.slice(0, mostPrompt) : undefined;

/** A schema from a workflow's variable, which may hold anything. */
const schemaOf = (value: unknown): JsonObject | undefined => {
  if (!isObject(value)) return undefined;
  try {
    const text = JSON.stringify(value);
    return text.length > mostPrompt ? undefined : (JSON.parse(blankCallbacks(text)) as JsonObject);
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

/** It is said that nothing is certain. */
const uncertain = (waiting: Waiting, open: readonly Callback[], index: number): string => {
  const { entries, current } = waiting;
  const steps = toStepsText(entries === undefined ? current : callsIn(entries));
  const which = open.length === 1 ? "an answer" : `answer ${index + 1} of ${open.length}`;
  const where = steps === undefined ? "" : ` (now at: ${steps})`;
  return `${waiting.workflowId} waits for ${which}${where}. Google does not tell which step it is for.`;
};

/** What is open as questions, each with its callback as its secret. */
export const toQuestions = (waiting: Waiting): readonly ExecutionQuestion[] => {
  const open = waiting.callbacks.filter(isOpen);
  return open.map((callback, index): ExecutionQuestion => {
    const { id, method } = callback;
    const match = matchStep(callback, open, waiting.entries, waiting.prompts);
    const { message, schema, declinable = false } = match === undefined ? {} : promptFor(match, waiting.prompts);
    const stepName = match?.step === undefined ? waiting.workflowId : readable(match.step.step);
    const text = match === undefined ? uncertain(waiting, open, index) : (message ?? `${stepName} waits for an answer`);
    const canRefuse = declinable && hasBody(method);
    return {
      id: toQuestionId(id, match !== undefined),
      message: blankCallbacks(text),
      ...(hasBody(method) ? { schema: schema ?? anything } : {}),
      secret: toSecret({ callbackId: id, method, declinable: canRefuse }),
    };
  });
};

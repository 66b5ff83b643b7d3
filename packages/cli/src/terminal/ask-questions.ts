import { createInterface } from "node:readline/promises";
import type { GivenAnswer, JsonValue } from "@taskbridge/core";
import type { Answers, Question } from "../task-source.ts";
import { type QuestionField, questionFields } from "./question-fields.ts";
import { safeLine, safeText } from "./safe-text.ts";

/** Where a person is asked: normally the terminal, with the questions on stderr so that stdout holds results only. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

type AskLine = (prompt: string) => Promise<string>;

/** Typed instead of a value, these answer the question as a whole. */
const refusals: Readonly<Record<string, GivenAnswer["action"]>> = { ":decline": "decline", ":cancel": "cancel" };

/** What may be typed for a question without members, in full or the beginning of it. */
const decisions: readonly (readonly [string, GivenAnswer["action"]])[] = [
  ["accept", "accept"],
  ["yes", "accept"],
  ["decline", "decline"],
  ["no", "decline"],
  ["cancel", "cancel"],
];

/**
 * Asks a person each question in turn. Rejects when the signal fires; `interrupt`, which is to fire it, is called for Ctrl-C
 * while asking, and for Ctrl-D or another end of the input.
 */
export const askQuestions = async (
  questions: readonly Question[],
  { input, output }: Terminal,
  signal: AbortSignal,
  interrupt: () => void,
): Promise<Answers> => {
  const lines = createInterface({ input, output });
  // The terminal is in raw mode while asking, so Ctrl-C raises no signal of its own.
  lines.on("SIGINT", interrupt);
  // Nobody is there to be asked any more.
  const end = (): void => {
    output.write("\n");
    interrupt();
  };
  lines.once("close", end);
  const askLine: AskLine = async (prompt) => (await lines.question(prompt, { signal })).trim();
  try {
    const answers: [string, GivenAnswer][] = [];
    for (const question of questions) answers.push([question.key, await askOne(question, output, askLine)]);
    return Object.fromEntries(answers);
  } finally {
    lines.off("close", end).close();
  }
};

const askOne = async (question: Question, output: NodeJS.WritableStream, askLine: AskLine): Promise<GivenAnswer> => {
  output.write(`\n${safeText(question.message)}\n`);
  if (question.url !== undefined) output.write(`  ${safeLine(question.url)}\n`);
  const fields = questionFields(question.schema);
  if (fields.length === 0) return { action: await askDecision(output, askLine) };

  output.write("  (:decline refuses, :cancel dismisses)\n");
  const content: [string, JsonValue][] = [];
  for (const field of fields) {
    const answer = await askField(field, askLine);
    if (answer === undefined) continue;
    if ("action" in answer) return answer;
    content.push([field.name, answer.value]);
  }
  return { action: "accept", content: Object.fromEntries(content) };
};

const askDecision = async (output: NodeJS.WritableStream, askLine: AskLine): Promise<GivenAnswer["action"]> => {
  for (;;) {
    const line = (await askLine("  accept, decline or cancel? ")).toLowerCase();
    const [, action] = decisions.find(([word]) => line !== "" && word.startsWith(line)) ?? [];
    if (action !== undefined) return action;
    output.write("  Type accept (or yes), decline (or no) or cancel.\n");
  }
};

/** Undefined: left out. */
const askField = async (
  field: QuestionField,
  askLine: AskLine,
): Promise<{ value: JsonValue } | GivenAnswer | undefined> => {
  const hint = field.fallback === undefined ? field.hint : `${field.hint}; ${JSON.stringify(field.fallback)}`;
  for (;;) {
    const line = await askLine(`  ${safeLine(`${field.label} [${hint}]`)}: `);
    const action = refusals[line];
    if (action !== undefined) return { action };
    if (line === "" && field.fallback !== undefined) return { value: field.fallback };
    if (line === "" && !field.required) return undefined;
    const value = field.parse(line);
    if (value !== undefined && line !== "") return { value };
  }
};

import { createInterface } from "node:readline/promises";
import type { GivenAnswer, JsonValue } from "@taskbridge/core";
import type { Answers, Question } from "../task-source.ts";
import { type QuestionField, questionFields } from "./question-fields.ts";
import { safeText } from "./safe-text.ts";

/** Where a person is asked: normally the terminal, with the questions on stderr so that stdout holds results only. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

type AskLine = (prompt: string) => Promise<string>;

/** Typed instead of a value, these answer the question as a whole. */
const refusals: Readonly<Record<string, GivenAnswer["action"]>> = { ":decline": "decline", ":cancel": "cancel" };

/** Asks a person each question in turn. Rejects when the signal fires; `interrupt` is called for Ctrl-C while asking. */
export const askQuestions = async (
  questions: readonly Question[],
  { input, output }: Terminal,
  signal: AbortSignal,
  interrupt: () => void,
): Promise<Answers> => {
  const lines = createInterface({ input, output });
  // The terminal is in raw mode while asking, so Ctrl-C raises no signal of its own.
  lines.on("SIGINT", interrupt);
  const askLine: AskLine = async (prompt) => (await lines.question(prompt, { signal })).trim();
  try {
    const answers: [string, GivenAnswer][] = [];
    for (const question of questions) answers.push([question.key, await askOne(question, output, askLine)]);
    return Object.fromEntries(answers);
  } finally {
    lines.close();
  }
};

const askOne = async (question: Question, output: NodeJS.WritableStream, askLine: AskLine): Promise<GivenAnswer> => {
  output.write(`\n${safeText(question.message)}\n`);
  if (question.url !== undefined) output.write(`  ${safeText(question.url)}\n`);
  const fields = questionFields(question.schema);
  if (fields.length === 0) return { action: await askDecision(askLine) };

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

const askDecision = async (askLine: AskLine): Promise<GivenAnswer["action"]> => {
  for (;;) {
    const line = (await askLine("  accept, decline or cancel? ")).toLowerCase();
    const action = (["accept", "decline", "cancel"] as const).find((name) => line !== "" && name.startsWith(line));
    if (action !== undefined) return action;
  }
};

/** Undefined: left out. */
const askField = async (
  field: QuestionField,
  askLine: AskLine,
): Promise<{ value: JsonValue } | GivenAnswer | undefined> => {
  const hint = field.fallback === undefined ? field.hint : `${field.hint}; ${JSON.stringify(field.fallback)}`;
  for (;;) {
    const line = await askLine(safeText(`  ${field.label} [${hint}]: `));
    const action = refusals[line];
    if (action !== undefined) return { action };
    if (line === "" && field.fallback !== undefined) return { value: field.fallback };
    if (line === "" && !field.required) return undefined;
    const value = field.parse(line);
    if (value !== undefined && line !== "") return { value };
  }
};

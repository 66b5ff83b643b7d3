import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type AnswerRecord, jobFile, type OpenQuestion, readRecord } from "./job-folder.ts";
import type { Ask } from "./parse-report.ts";

/** More questions than this are not put to anybody at once. */
export const maxOpen = 100;

/** The questions of one job: which are open, and that each is answered once. */
export interface QuestionDispatcher {
  open(): readonly OpenQuestion[];
  /** False: too many are open already. */
  ask(ask: Ask): boolean;
  /** Closes the question; the line that tells the job. Undefined: it is not open. */
  accept(answer: AnswerRecord): string | undefined;
}

/** The line on stdin that tells a job what it was answered. */
export const toAnswerLine = (key: string, { action, content }: Pick<AnswerRecord, "action" | "content">): string =>
  `${JSON.stringify({ answer: { key, action, ...(content === undefined ? {} : { content }) } })}\n`;

export const questionDispatcher = (): QuestionDispatcher => {
  const timesAsked = new Map<string, number>();
  const used = new Set<string>();
  const open = new Map<string, OpenQuestion>();
  const newId = (key: string): string => {
    let count = timesAsked.get(key) ?? 0;
    let id: string;
    do id = ++count === 1 ? key : `${key}#${count}`;
    while (used.has(id));
    timesAsked.set(key, count);
    used.add(id);
    return id;
  };
  return {
    open: () => [...open.values()],
    ask(ask) {
      if (open.size >= maxOpen) return false;
      const id = newId(ask.key);
      open.set(id, { id, ...ask });
      return true;
    },
    accept(answer) {
      const question = open.get(answer.questionId);
      if (question === undefined || !open.delete(answer.questionId)) return undefined;
      return toAnswerLine(question.key, answer);
    },
  };
};

/** The answers that were left for a job, in the order in which they were given. */
export const readAnswers = async (folder: string): Promise<readonly AnswerRecord[]> => {
  const inbox = join(folder, jobFile.inbox);
  const names = (await readdir(inbox).catch(() => [])).filter((name) => !name.startsWith("."));
  const answers = await Promise.all(names.map((name) => readRecord<AnswerRecord>(join(inbox, name, "answer.json"))));
  return answers.filter((answer) => answer !== undefined).sort((one, other) => one.at - other.at);
};

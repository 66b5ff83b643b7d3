// How a job speaks to the process adapter: reports behind "::taskbridge " on stdout, JSON lines on stdin.
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** The arguments of the call: always the first line. */
export const readInput = async () => JSON.parse((await lines.next()).value);

export const report = (what) => process.stdout.write(`::taskbridge ${JSON.stringify(what)}\n`);

/** Asks all questions at once. Resolves with the answers, by key, when the last one is in. */
export const ask = async (questions) => {
  for (const question of questions) report({ ask: question });
  const answers = {};
  while (Object.keys(answers).length < questions.length) {
    const { value, done } = await lines.next();
    if (done) throw new Error("nobody can answer any more");
    const { answer } = JSON.parse(value);
    answers[answer.key] = answer;
  }
  return answers;
};

/** Prints the result as text and ends, though stdin stays open. */
export const finish = (text) => process.stdout.write(`${text}\n`, () => process.exit(0));

// How a job speaks to taskbridge: JSON behind "::taskbridge " on stdout, answers as JSON lines on stdin.
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** The arguments of the call: always the first line. */
export const readInput = async () => JSON.parse((await lines.next()).value);

const report = (what) => process.stdout.write(`::taskbridge ${JSON.stringify(what)}\n`);

/** Tells at most ten times a second how far the job has come. */
export const progressReporter = (total) => {
  let reportedAt = 0;
  return (done, message) => {
    const now = Date.now();
    if (done < total && now - reportedAt < 100) return;
    reportedAt = now;
    report({ progress: { done, total, message } });
  };
};

/** Waits for a person's answer: `{ action: "accept" | "decline" | "cancel", content? }`. */
export const ask = async (key, message, schema) => {
  report({ ask: { key, message, schema } });
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error(`nobody can answer "${message}" any more`);
    const { answer } = JSON.parse(value);
    if (answer?.key === key) return answer;
  }
};

/** The last report. Stdin is let go, so that the job ends. */
export const finish = (result) => {
  report({ result });
  process.stdin.destroy();
};

/** Ends the job as failed: the last line of stderr becomes the reason, what is before it the detail. */
export const fail = (reason, details = []) => {
  process.stderr.write([...details, reason, ""].join("\n"));
  process.exitCode = 1;
  process.stdin.destroy();
};

// Without this, Node's own last line would be the reason.
process.on("uncaughtException", (error) => fail(error.message));

// The job of the kill test: notes in a journal that it ran, works for a while with progress, and tells its number back.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [journal] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin });
const { value } = await lines[Symbol.asyncIterator]().next();
const { n, ms } = JSON.parse(value);
appendFileSync(journal, `${n} ${process.pid}\n`);
const report = (body) => process.stdout.write(`::taskbridge ${JSON.stringify(body)}\n`);
for (let done = 1; done <= 4; done++) {
  await new Promise((resolve) => setTimeout(resolve, ms / 4));
  report({ progress: { done, total: 4 } });
}
report({ result: { n } });
process.exit(0);

// A job of taskbridge's process adapter: lines that begin with "::taskbridge " are reports, all others are its log.
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const report = (what) => console.log(`::taskbridge ${JSON.stringify(what)}`);

const file = process.argv[2];
const text = await readFile(file, "utf8").catch((error) => {
  console.error(error.message); // the last lines of stderr become the reason of the failure
  process.exit(1);
});
const lines = text.split("\n");
const pauseMs = 2_000 / lines.length; // as if each line were hard work

let words = 0;
for (const [index, line] of lines.entries()) {
  words += line.split(/\s+/).filter(Boolean).length;
  report({ progress: { done: index + 1, total: lines.length, message: `line ${index + 1}` } });
  await sleep(pauseMs);
}

report({ result: { lines: lines.length, words, bytes: Buffer.byteLength(text) } });

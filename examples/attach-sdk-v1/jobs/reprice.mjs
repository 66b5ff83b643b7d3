// node reprice.mjs FILE PERCENT: raises every price by some percent, once a person has agreed.
import { readFile, rename, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

const [file, percent] = process.argv.slice(2);
const report = (what) => console.log(`::taskbridge ${JSON.stringify(what)}`);

const products = JSON.parse(await readFile(file, "utf8"));
const repriced = [];
for (const product of products) {
  await pause(200); // a look at what other shops ask
  repriced.push({ ...product, cents: Math.round((product.cents * (100 + Number(percent))) / 100) });
  report({ progress: { done: repriced.length, total: products.length, message: product.name } });
}
const isAgreed = await ask(`Change ${repriced.length} prices by ${percent} %?`);
if (isAgreed) {
  await writeFile(`${file}.new`, JSON.stringify(repriced, null, 2));
  await rename(`${file}.new`, file);
}
report({ result: { changed: isAgreed ? repriced.length : 0 } });
process.stdin.destroy(); // an open stdin would keep this process from ending

/** Answers come on stdin as JSON lines, after one with the input. Ten minutes are time enough for one. */
async function ask(message) {
  const schema = { type: "object", properties: { ok: { type: "boolean", title: "Do it" } }, required: ["ok"] };
  const signal = AbortSignal.timeout(600_000);
  report({ ask: { key: "apply", message, schema } });
  for await (const line of createInterface({ input: process.stdin, signal })) {
    const { answer } = JSON.parse(line);
    if (answer?.key === "apply") return answer.action === "accept" && answer.content.ok;
  }
  throw new Error("nobody has answered");
}

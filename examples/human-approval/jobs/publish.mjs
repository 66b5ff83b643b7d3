// node publish.mjs PUBLISHED VERSION: publishes a release, once a person has approved it.
import { appendFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const [, , publishedFile, version] = process.argv;
const report = (what) => console.log(`::taskbridge ${JSON.stringify(what)}`);

const schema = {
  type: "object",
  properties: { approved: { type: "boolean", title: "Publish it" }, note: { type: "string", title: "Why" } },
  required: ["approved"],
};
const answer = await ask("approve", `Publish version ${version}?`, schema);
const isApproved = answer.action === "accept" && answer.content.approved;
if (isApproved) await appendFile(publishedFile, `${version}\n`);
report({ result: { version, published: isApproved, note: answer.content?.note ?? null } });
process.stdin.destroy(); // an open stdin would keep this process from ending

/** Answers come on stdin as JSON lines, after one with the input. A day without one, and nobody needs this any more. */
async function ask(key, message, form) {
  const signal = AbortSignal.timeout(86_400_000);
  report({ ask: { key, message, schema: form } });
  for await (const line of createInterface({ input: process.stdin, signal })) {
    const { answer: given } = JSON.parse(line);
    if (given?.key === key) return given;
  }
  throw new Error("nobody has answered");
}

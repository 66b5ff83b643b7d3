// node send-issue.mjs SUBSCRIBERS SENT SUBJECT: "sends" an issue to everybody, once a person has agreed.
import { appendFile, readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

const [subscribersFile, sentFile, subject] = process.argv.slice(2);
const report = (what) => console.log(`::taskbridge ${JSON.stringify(what)}`);

const subscribers = JSON.parse(await readFile(subscribersFile, "utf8"));
const steps = 2 * subscribers.length;
let done = 0;
const step = async (message) => {
  await pause(150); // a mail server takes its time
  done += 1;
  report({ progress: { done, total: steps, message } });
};

for (const { email } of subscribers) await step(`${email} is checked`);
const isAgreed = await ask(`Send "${subject}" to ${subscribers.length} people?`);
for (const { email } of isAgreed ? subscribers : []) {
  await appendFile(sentFile, `${JSON.stringify({ email, subject })}\n`);
  await step(`${email} is sent`);
}
report({ result: { sent: isAgreed ? subscribers.length : 0 } });
process.stdin.destroy(); // an open stdin would keep this process from ending

/** Answers come on stdin as JSON lines, after one with the input. Ten minutes are time enough for one. */
async function ask(message) {
  const schema = { type: "object", properties: { ok: { type: "boolean", title: "Send it" } }, required: ["ok"] };
  const signal = AbortSignal.timeout(600_000);
  report({ ask: { key: "send", message, schema } });
  for await (const line of createInterface({ input: process.stdin, signal })) {
    const { answer } = JSON.parse(line);
    if (answer?.key === "send") return answer.action === "accept" && answer.content.ok;
  }
  throw new Error("nobody has answered");
}

// node find-bounces.mjs: goes through a large mailbox.
import { setTimeout as pause } from "node:timers/promises";

const report = (what) => console.log(`::taskbridge ${JSON.stringify(what)}`);
const mails = 600;
for (let done = 1; done <= mails; done++) {
  await pause(100);
  report({ progress: { done, total: mails, message: `mail ${done}` } });
}
report({ result: { bounced: [] } });

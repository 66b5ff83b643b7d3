import { setTimeout as sleep } from "node:timers/promises";
import { finish, readInput, report } from "./report.mjs";

const { seconds, label = "nothing" } = await readInput();
const tickMs = 250;
const total = Math.ceil((seconds * 1000) / tickMs);
for (let done = 0; done < total; done += 1) {
  await sleep(tickMs);
  report({ progress: { done: done + 1, total } });
}
finish(`Computed ${label} in ${seconds} s.`);

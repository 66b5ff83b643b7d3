// node survey.mjs RUNS: counts for two seconds, and tells how often it was ever started.
import { appendFile, readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

const [, , runsFile] = process.argv;
const report = (what) => console.log(`::taskbridge ${JSON.stringify(what)}`);

await appendFile(runsFile, "started\n");
const total = 20;
for (let done = 1; done <= total; done++) {
  await pause(100); // something that takes its time
  report({ progress: { done, total } });
}
const runs = (await readFile(runsFile, "utf8")).trim().split("\n").length;
report({ result: { runs } });

// node yearly-report.mjs YEAR: adds up twelve months, each of which takes its time.
import { setTimeout as pause } from "node:timers/promises";

const year = Number(process.argv[2]);
const report = (what) => console.log(`::taskbridge ${JSON.stringify(what)}`);

let orders = 0;
for (let month = 1; month <= 12; month++) {
  await pause(250); // a slow archive
  orders += 100 + month;
  report({ progress: { done: month, total: 12, message: `month ${month}` } });
}
report({ result: { year, orders } });

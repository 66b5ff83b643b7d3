// Begins a survey and stays with it, until somebody kills this process.
//   node dist/begin.js URL [ID]      ID: chosen by whoever starts this, on SEP-1686; otherwise the server gives one
import { connect } from "./connect.ts";

const [url = "", taskId] = process.argv.slice(2);
const calls = await connect(url, taskId === undefined ? "auto" : "legacy");
const pending = calls.beginCall("survey", {}, taskId === undefined ? {} : { taskId });
// Keep the ID where it outlives the process: here, with whoever reads this line.
console.log(`task ${await pending.created}`);
await pending.result();

// Kills a client in the middle of its task, twice, and goes on with the task. Exits non-zero when anything is wrong.
//   node dist/client.js [URL]
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { PendingCall, TaskClient } from "@taskbridge/client";
import { connect } from "./connect.ts";

const [url = "http://127.0.0.1:3000/mcp"] = process.argv.slice(2);

const first = await resumed();
await sentTwice(first);
console.log("Two clients died, and no task with them.");
process.exit(0);

/** The server has given an ID, and the client that got it is gone: `resume` takes it. */
async function resumed(): Promise<number> {
  const taskId = await dieWith();
  const calls = await connect(url, "auto");
  const seen: string[] = [];
  const pending = calls.resume(taskId, { onStatus: ({ status }) => void seen.push(status) });
  const runs = await runsOf(calls, pending);
  assert.equal(seen[0], "working", "the task went on while nobody looked");
  assert.equal(seen.at(-1), "completed");
  console.log(`resumed ${taskId}: run ${runs}`);
  return runs;
}

/** The client had an ID of its own, so that whoever knows it can simply call again, not knowing how far the call came. */
async function sentTwice(before: number): Promise<void> {
  const taskId = `survey-${randomUUID()}`;
  assert.equal(await dieWith(taskId), taskId);
  const calls = await connect(url, "legacy");
  const runs = await runsOf(calls, calls.beginCall("survey", {}, { taskId }));
  assert.equal(runs, before + 1, "the second call of the same ID started nothing");
  console.log(`called again ${taskId}: run ${runs}`);
}

/** Lets another process begin a survey, and kills it as soon as it has. Gives the ID that it told. */
async function dieWith(taskId?: string): Promise<string> {
  const script = fileURLToPath(new URL("begin.js", import.meta.url));
  const child = spawn(process.execPath, [script, url, ...(taskId === undefined ? [] : [taskId])], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const [, fault] = /^task (\S+)$/.exec(line) ?? [];
    if (fault === undefined) continue;
    child.kill("SIGKILL");
    await once(child, "close");
    return fault;
  }
  throw new Error("the client ended before it had a task");
}

async function runsOf(calls: TaskClient, pending: PendingCall): Promise<number> {
  const { json } = await calls.readWhole(await pending.result());
  return (json as { runs: number }).runs;
}

// Has releases approved and declined over both generations of tasks. Exits non-zero when anything is wrong.
//   node dist/client.js [URL]
import assert from "node:assert/strict";
import { execFile as runFile } from "node:child_process";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  type GivenAnswer,
  isTaskClientError,
  type Question,
  type SdkClient,
  type Task,
  type TaskClient,
  taskClient,
} from "@taskbridge/client";

const [url = "http://127.0.0.1:3000/mcp"] = process.argv.slice(2);
const execFile = promisify(runFile);
const me = { name: "release-desk", version: "1.0.0" };
// Without this a server of the 2025 revisions asks nobody, and it has to be said when the client is made.
const capabilities = { elicitation: { form: {} } };

const modern = new Client(me, { capabilities, versionNegotiation: { mode: "auto" } });
await modern.connect(new StreamableHTTPClientTransport(new URL(url)));
const legacy = new FirstClient(me, { capabilities });
await legacy.connect(new FirstTransport(new URL(url)) as never);

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interrupted.abort());
// Without `cancelOnAbort` an interrupted release would go on, and wait for an answer that nobody gives.
const stoppable = { signal: interrupted.signal, cancelOnAbort: true };
try {
  await decide(modern, "2026-07-28");
  await decide(legacy, "2025-11-25");
  await approveLater();
  console.log("Nothing was published that nobody approved.");
} catch (error) {
  const isStopped = isTaskClientError(error, "cancelled") || error === interrupted.signal.reason;
  if (!interrupted.signal.aborted || !isStopped) throw error;
  console.log("Interrupted: what was open is cancelled.");
  process.exitCode = 1;
} finally {
  await Promise.all([modern.close(), legacy.close()]);
}

/** One release is approved, one refused, one left without a decision. */
async function decide(client: SdkClient, wire: string): Promise<void> {
  const calls = taskClient(client);
  assert.equal(calls.wire, wire);
  const publish = async (version: string, answer: GivenAnswer) => {
    const asked: Question[] = [];
    const onQuestion = (question: Question): GivenAnswer => {
      // Here a person would be shown the message and a form of the schema.
      asked.push(question);
      return answer;
    };
    interrupted.signal.throwIfAborted();
    const pending = calls.beginCall("publish", { version }, { onQuestion, ...stoppable });
    const { json } = await calls.readWhole(await pending.result());
    assert.deepEqual(
      asked.map(({ message }) => message),
      [`Publish version ${version}?`],
      "asked once",
    );
    return json;
  };
  const yes = { action: "accept", content: { approved: true, note: "tested" } } as const;
  assert.deepEqual(await publish("1.0.0", yes), { version: "1.0.0", published: true, note: "tested" });
  const no = { action: "accept", content: { approved: false, note: "not on a Friday" } } as const;
  assert.deepEqual(await publish("1.1.0", no), { version: "1.1.0", published: false, note: "not on a Friday" });
  const never = { action: "decline" } as const;
  assert.deepEqual(await publish("1.2.0", never), { version: "1.2.0", published: false, note: null });
  await calls.close();
  console.log(`${wire}: 1.0.0 is published, 1.1.0 and 1.2.0 are not`);
}

/** Who calls need not be who approves: the question stays open until somebody answers it, who only has the task's ID. */
async function approveLater(): Promise<void> {
  const calls = taskClient(modern);
  interrupted.signal.throwIfAborted();
  const pending = calls.beginCall("publish", { version: "2.0.0" }, stoppable);
  try {
    const taskId = (await pending.created) ?? "";
    const { status } = await asking(calls, taskId);
    assert.equal(status, "input_required", "without onQuestion nobody is asked, and nobody answers");
    const answer = ["tasks", "answer", taskId, "--url", url, "--input", '{"approved":true}'];
    await execFile(process.execPath, ["node_modules/taskbridge/dist/main.js", ...answer], {
      signal: interrupted.signal,
    });
    const { json } = await calls.readWhole(await pending.result());
    assert.deepEqual(json, { version: "2.0.0", published: true, note: null });
  } catch (error) {
    await pending.cancel(); // or the job would wait on, for an answer that nobody gives
    if (interrupted.signal.aborted) await pending.result();
    throw error;
  }
  await calls.close();
  console.log("2.0.0 waited, until somebody ran `taskbridge tasks answer`");
}

async function asking(calls: TaskClient, taskId: string): Promise<Task> {
  for await (const task of calls.watch(taskId, { signal: AbortSignal.timeout(15_000) })) {
    if (task.questions.length > 0) return task;
  }
  throw new Error("the release is over, and asked nothing");
}

// Publishes one release. On a terminal you are asked; elsewhere nobody is, and the question waits for an answer by ID.
//   node dist/release.js URL VERSION
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  type AskContext,
  type GivenAnswer,
  isTaskClientError,
  type Question,
  type Task,
  taskClient,
} from "@taskbridge/client";

const [url = "http://127.0.0.1:3000/mcp", version = "3.0.0"] = process.argv.slice(2);
const client = new Client({ name: "release", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const calls = taskClient(client);

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interrupted.abort());
const pending = calls.beginCall(
  "publish",
  { version },
  {
    ...(process.stdin.isTTY ? { onQuestion: askHere } : { onStatus: sayHowToAnswer }),
    signal: interrupted.signal,
    cancelOnAbort: true, // without this the task would go on, and wait
  },
);
try {
  const { json } = await calls.readWhole(await pending.result());
  console.log(JSON.stringify(json));
} catch (error) {
  if (!isTaskClientError(error, "cancelled")) throw error;
  console.log("Cancelled: nothing is published.");
  process.exitCode = 1;
} finally {
  await calls.close();
  await client.close();
}

/** `signal` fires when somebody else was faster, or the task was cancelled. */
async function askHere({ message }: Question, { signal }: AskContext): Promise<GivenAnswer> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  terminal.once("SIGINT", () => interrupted.abort()); // Ctrl-C is a key to a terminal that is read
  try {
    const said = await Promise.race([
      terminal.question(`${message} (y, n, or just Enter) `, { signal }).catch(() => ""),
      once(terminal, "close").then(() => ""), // Ctrl-D
    ]);
    if (said === "") return { action: "decline" };
    return { action: "accept", content: { approved: /^y/i.test(said) } };
  } finally {
    terminal.close();
  }
}

function sayHowToAnswer({ taskId, questions }: Task): void {
  for (const { message } of questions) {
    console.log(
      `${message} Answer it with\n  taskbridge tasks answer ${taskId} --url ${url} --input '{"approved":true}'`,
    );
  }
}

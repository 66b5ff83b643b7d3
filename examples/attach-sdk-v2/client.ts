// A client of the same SDK: uses the newsletter as before, then runs its pipelines as tasks of 2026-07-28. Exits non-zero
// if anything is wrong.
//   node dist/client.js [URL]
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { resultFromTaskOutcome, taskViewFromExecutionEvent } from "@modelcontextprotocol/ext-tasks/client";
import { capabilities, clientInfo, openTaskSession, protocolVersion } from "./task-session.ts";

interface PushedTask {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
}

const [url = "http://127.0.0.1:3000/mcp"] = process.argv.slice(2);
const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: { pin: protocolVersion } } });
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);

const pushed: PushedTask[] = [];
const endIsPushed = new Promise<void>((resolve) => {
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method !== "notifications/tasks") return;
    const task = params as unknown as PushedTask;
    pushed.push(task);
    if (task.status === "completed") resolve();
  };
});
const asked: unknown[] = [];
const session = openTaskSession(client, transport, (message) => {
  asked.push(message);
  return { action: "accept", content: { ok: true } };
});
try {
  await useNewsletter();
  await sendIssue();
  await cancelSearch();
  console.log("The newsletter works as before, and its pipelines are tasks.");
} finally {
  await session.close();
  await client.close();
}

async function useNewsletter(): Promise<void> {
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["count_subscribers", "send_issue", "find_bounces"],
  );
  const english = await client.callTool({ name: "count_subscribers", arguments: { language: "en" } });
  assert.deepEqual(english.structuredContent, { count: 3 });
  const { messages } = await client.getPrompt({ name: "draft_issue", arguments: { topic: "tea" } });
  assert.match(JSON.stringify(messages), /about tea\./);
  console.log("count_subscribers: 3 read English");
}

async function sendIssue(): Promise<void> {
  const before = await countSent();
  const execution = await session.callTool("send_issue", { subject: "Tea" });
  assert.ok(execution.kind === "task", "a call is a task at once");
  const { taskId } = execution.handle;
  const filter = { toolsListChanged: true, taskIds: [taskId] };
  const subscription = await client.listen(filter);

  const { outcome } = await execution.settle();
  assert.deepEqual(resultFromTaskOutcome(outcome).structuredContent, { sent: 5 });
  assert.deepEqual(asked, ['Send "Tea" to 5 people?'], "the person is asked once");
  assert.equal((await countSent()) - before, 5, "the newsletter itself shows what was sent");

  const tooLate = pause(5_000, undefined, { ref: false }).then(() => assert.fail("the end of the task is not pushed"));
  await Promise.race([endIsPushed, tooLate]);
  await subscription.close();
  for (const { status, statusMessage = "" } of pushed) console.log(`send_issue: pushed ${status} ${statusMessage}`);
  assert.ok(pushed.every((task) => task.taskId === taskId));
  assert.ok(
    pushed.some(({ statusMessage = "" }) => /^\d+ of 10: /.test(statusMessage)),
    "progress is pushed",
  );
  console.log(`send_issue: asked ${JSON.stringify(asked[0])}, sent 5`);
}

async function cancelSearch(): Promise<void> {
  const execution = await session.callTool("find_bounces", {});
  const { outcome } = await execution.settle({
    onEvent: async (event) => {
      const { status, statusMessage = "" } = taskViewFromExecutionEvent(event) ?? {};
      if (status === "working" && statusMessage.includes("mail")) await execution.cancel();
    },
  });
  assert.equal(outcome.status, "cancelled");
  console.log("find_bounces: cancelled");
}

async function countSent(): Promise<number> {
  const [content] = (await client.readResource({ uri: "newsletter://sent" })).contents;
  assert.ok(content !== undefined && "text" in content);
  return content.text.split("\n").length - 1;
}

// A host that knows no tasks, with a "model" that does what it reads, gets the result of a long pipeline. Exits non-zero if
// anything is wrong.
//   node dist/client.js
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";

interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Hosts give a call up after so long. Nothing below comes near it, however long the pipeline takes. */
const timeout = 60_000;
/** A model that turns in circles is stopped. */
const maxCalls = 5;

const data = await mkdtemp(join(tmpdir(), "taskbridge-plain-host-"));
const host = new Client({ name: "plain-host", version: "1.0.0" });
try {
  await host.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [fileURLToPath(new URL("server.js", import.meta.url))],
      env: { ...getDefaultEnvironment(), DATA: data },
    }),
  );
  const { tools } = await host.listTools();
  const names = tools.map(({ name }) => name);
  assert.deepEqual(names, ["yearly_report", "task_status", "task_result", "task_cancel"]);
  assert.ok(tools[0]?.outputSchema, "the host holds every answer of yearly_report to its schema");

  const answers = await answerUser({ name: "yearly_report", args: { year: 2026 } }, names);
  assert.equal(
    answers[0]?.structuredContent?.["taskStatus"],
    "working",
    "the call is answered before the pipeline ends",
  );
  assert.deepEqual(answers.at(-1)?.structuredContent, { year: 2026, orders: 1278 });
  console.log(`\nThe host has ${JSON.stringify(answers.at(-1)?.structuredContent)} after ${answers.length} calls.`);
} finally {
  await host.close(); // and with it the server
  await rm(data, { recursive: true, force: true, maxRetries: 5 });
}

/** Goes on as long as the model wants to call something. */
async function answerUser(first: ToolCall, names: readonly string[]): Promise<readonly CallToolResult[]> {
  const answers: CallToolResult[] = [];
  for (let call: ToolCall | undefined = first; call !== undefined; ) {
    assert.ok(names.includes(call.name), `the model calls ${call.name}, which is not there`);
    assert.ok(answers.length < maxCalls, "the model turns in circles");
    const answer = await callTool(call);
    answers.push(answer);
    call = chooseNext(answer);
  }
  return answers;
}

async function callTool({ name, args }: ToolCall): Promise<CallToolResult> {
  console.log(`\n→ ${name} ${JSON.stringify(args)}`);
  const sentAt = Date.now();
  const answer = CallToolResultSchema.parse(await host.callTool({ name, arguments: args }, undefined, { timeout }));
  const [block] = answer.content;
  console.log(`← after ${((Date.now() - sentAt) / 1000).toFixed(1)} s: ${block?.type === "text" ? block.text : ""}`);
  return answer;
}

/** The whole model: it calls what it is told to call, with what it is told to give, and is done when it is told nothing. */
function chooseNext({ structuredContent }: CallToolResult): ToolCall | undefined {
  const next = structuredContent?.["next"];
  if (next === undefined) return undefined;
  const fault = /call (\w+) with (\w+) (\S+) and (\w+) (\d+)/.exec(String(next));
  assert.ok(fault, `the model does not understand: ${next}`);
  const [, name = "", id = "", taskId, wait = "", seconds] = fault;
  return { name, args: { [id]: taskId, [wait]: Number(seconds) } };
}

// A client of the same SDK: uses the shop as before, then runs its pipelines as tasks. Exits non-zero if anything is wrong.
//   node dist/client.js [URL]
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [url = "http://127.0.0.1:3000/mcp"] = process.argv.slice(2);
const client = new Client({ name: "shop-client", version: "1.0.0" }, { capabilities: { elicitation: { form: {} } } });
const asked: string[] = [];
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  asked.push(params.message);
  return { action: "accept", content: { ok: true } };
});
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport as Transport);
try {
  await useShop();
  await reprice();
  await cancelImport();
  console.log("The shop works as before, and its pipelines are tasks.");
} finally {
  await transport.terminateSession();
  await client.close();
}

async function useShop(): Promise<void> {
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["find_product", "reprice", "import_stock", "task_status", "task_result", "task_cancel"],
  );
  const mugs = await findProducts("mug");
  assert.deepEqual(
    mugs.map(({ sku }) => sku),
    ["MUG-01", "MUG-02"],
  );
  const { messages } = await client.getPrompt({ name: "describe_product", arguments: { name: "Teapot" } });
  assert.match(JSON.stringify(messages), /Describe our Teapot/);
  assert.equal((await readProducts()).length, 5);
  console.log(`find_product: ${mugs.map(({ name, cents }) => `${name} ${cents}`).join(", ")}`);
}

async function reprice(): Promise<void> {
  const before = await readProducts();
  const seen: string[] = [];
  let result: unknown;
  const call = { name: "reprice", arguments: { percent: 10 } };
  for await (const message of client.experimental.tasks.callToolStream(call, CallToolResultSchema, { task: {} })) {
    if (message.type === "error") throw message.error;
    if (message.type === "result") result = message.result.structuredContent;
    else if (message.task.statusMessage !== undefined && message.task.statusMessage !== seen.at(-1)) {
      seen.push(message.task.statusMessage);
      console.log(`reprice: ${message.task.status}, ${message.task.statusMessage}`);
    }
  }
  assert.ok(
    seen.some((status) => /^[1-5] of 5: /.test(status)),
    `progress is told, got ${JSON.stringify(seen)}`,
  );
  assert.deepEqual(asked, ["Change 5 prices by 10 %?"], "the person is asked once");
  assert.deepEqual(result, { changed: 5 });
  const raised = before.map(({ cents }) => Math.round((cents * 110) / 100));
  assert.deepEqual(
    (await readProducts()).map(({ cents }) => cents),
    raised,
    "the shop itself shows the new prices",
  );
  console.log(`reprice: asked "${asked[0]}", changed ${before.length} prices`);
}

async function cancelImport(): Promise<void> {
  const stockBefore = (await readProducts()).map(({ stock }) => stock);
  let taskId = "";
  let end = "";
  const call = { name: "import_stock", arguments: {} };
  for await (const message of client.experimental.tasks.callToolStream(call, CallToolResultSchema, { task: {} })) {
    if (message.type === "taskCreated") taskId = message.task.taskId;
    else if (message.type === "taskStatus" && message.task.status === "working") {
      if (message.task.statusMessage?.includes("supplier")) await client.experimental.tasks.cancelTask(taskId);
    } else if (message.type === "error") end = message.error.message;
    else assert.notEqual(message.type, "result", "a cancelled task has no result");
  }
  assert.match(end, /was cancelled/);
  assert.equal((await client.experimental.tasks.getTask(taskId)).status, "cancelled");
  const { tasks } = await client.experimental.tasks.listTasks();
  assert.ok(tasks.some((task) => task.taskId === taskId && task.status === "cancelled"));
  assert.deepEqual(
    (await readProducts()).map(({ stock }) => stock),
    stockBefore,
  );
  console.log("import_stock: cancelled, stock is as before");
}

interface Product {
  readonly sku: string;
  readonly name: string;
  readonly cents: number;
  readonly stock: number;
}

async function findProducts(text: string): Promise<readonly Product[]> {
  const { structuredContent } = await client.callTool({ name: "find_product", arguments: { text } });
  return (structuredContent as { products: Product[] }).products;
}

async function readProducts(): Promise<readonly Product[]> {
  const [content] = (await client.readResource({ uri: "shop://products" })).contents;
  assert.ok(content !== undefined && "text" in content);
  return JSON.parse(content.text);
}

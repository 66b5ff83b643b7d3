import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { asking, type MotoBench } from "../moto-bench.ts";
import { type SeenTask, type TaskClient, taskClient } from "../task-client.ts";
import { until } from "../until.ts";
import { type Served, type ServedFolder, servedFolder } from "./served-folder.ts";

const yaml = (endpoint: string): string => `
store: sqlite:./tasks.db
adapters:
  aws: { use: step-functions, region: eu-west-1, endpoint: "${endpoint}" }
tools:
${["orders", "broken", "endless"]
  .map(
    (name) => `
  - name: ${name}
    description: Runs ${name}.
    adapter: aws
    target: { stateMachine: ${name} }
    input: { type: object, properties: { rush: { type: boolean }, lines: { type: array } } }
    task: { pollIntervalMs: 500 }`,
  )
  .join("")}
`;

const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

const orders = (queueUrl: string): Readonly<Record<string, object>> => ({
  Rush: { Type: "Choice", Choices: [{ Variable: "$.rush", BooleanEquals: true, Next: "Pack" }], Default: "Pause" },
  Pause: { Type: "Wait", Seconds: 1, Next: "Pack" },
  Pack: {
    Type: "Map",
    ItemsPath: "$.lines",
    ItemProcessor: { StartAt: "One", States: { One: { Type: "Pass", End: true } } },
    Next: "Approve",
  },
  Approve: { ...asking(queueUrl, "orders", { message: "Send the order?", requestedSchema: schema }), End: true },
});

export const testPipelines = (getBench: () => MotoBench): void => {
  let bench: MotoBench;
  let folder: ServedFolder;
  let served: Served;
  let client: TaskClient;
  beforeAll(async () => {
    bench = getBench();
    await bench.machine("orders", orders(bench.queueUrl));
    await bench.machine("broken", { Stop: { Type: "Fail", Error: "NoStock", Cause: "none left" } });
    await bench.machine("endless", { Forever: { Type: "Wait", Seconds: 600, End: true } });
    folder = await servedFolder(yaml(bench.endpoint));
    served = await folder.serve();
    client = taskClient(served.url);
  }, 90_000);
  afterAll(async () => {
    await served?.stop();
    await folder?.close();
  });

  const input = { rush: false, lines: [1, 2] };
  const last = async (taskId: string): Promise<SeenTask | undefined> => {
    const seen: SeenTask[] = [];
    await client.listen([taskId], (task) => seen.push(task));
    return seen.at(-1);
  };

  it("run to their end for a client of 2026-07-28, which answers the approval", async () => {
    const { taskId } = await client.start("orders", input);
    const asked = await until("it asks", async () => {
      const task = await client.get(taskId);
      return task.status === "input_required" ? task : undefined;
    });
    const [key = "", request] = Object.entries(asked.inputRequests ?? {})[0] ?? [];
    expect(request?.params).toMatchObject({ message: "Send the order?" });
    // What the token would be is among the messages of the queue only.
    expect(JSON.stringify(asked)).not.toMatch(/token/i);
    await client.request("tasks/update", {
      taskId,
      inputResponses: { [key]: { action: "accept", content: { ok: true } } },
    });
    const done = await last(taskId);
    expect([done?.status, JSON.parse(done?.result?.content[0]?.text ?? "")]).toEqual(["completed", { ok: true }]);
  }, 60_000);

  it("tell that client the error and the cause of a failure", async () => {
    const { taskId } = await client.start("broken", {});
    const done = await last(taskId);
    expect(done).toMatchObject({ status: "completed", result: { isError: true } });
    expect(done?.result?.content[0]?.text).toContain("NoStock: none left");
  }, 30_000);

  it("are stopped by it", async () => {
    const { taskId } = await client.start("endless", {});
    await until("it runs", async () => ((await bench.executions("endless")) > 0 ? true : undefined));
    await client.request("tasks/cancel", { taskId });
    expect(await last(taskId)).toMatchObject({ status: "cancelled" });
  }, 30_000);

  it("run to their end for a client of 2025-11-25, which answers the approval and hears of failures", async () => {
    const host = new Client({ name: "host", version: "1" }, { capabilities: { elicitation: { form: {} } } });
    const questions: string[] = [];
    host.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      questions.push(params.message);
      return { action: "accept", content: { ok: false } };
    });
    await host.connect(new StreamableHTTPClientTransport(new URL(served.url)) as Transport);
    const call = async (name: string, args: Record<string, unknown>): Promise<readonly string[]> => {
      const messages: string[] = [];
      const stream = host.experimental.tasks.callToolStream({ name, arguments: args }, undefined, { task: {} });
      for await (const message of stream) messages.push(JSON.stringify(message));
      return messages;
    };
    try {
      await host.listTools();
      expect((await call("orders", input)).at(-1)).toContain('{\\"ok\\":false}');
      expect(questions).toEqual(["Send the order?"]);
      expect((await call("broken", {})).join("\n")).toContain("NoStock: none left");
    } finally {
      await host.close();
    }
  }, 60_000);

  it("are found by discover and approved of by doctor", async () => {
    const [discovered, { stdout, stderr }] = await Promise.all([folder.runHere("discover"), folder.runHere("doctor")]);
    expect([discovered.code, discovered.stdout]).toEqual([0, expect.stringContaining("stateMachine:orders")]);
    expect(stdout + stderr).toMatch(/orders, STANDARD, in eu-west-1/);
  }, 30_000);
};

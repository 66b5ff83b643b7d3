import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { demoLocation, type GcwBench, gcwBench } from "../gcw-bench.ts";
import { type SeenTask, type TaskClient, taskClient } from "../task-client.ts";
import { until } from "../until.ts";
import { type Served, type ServedFolder, servedFolder } from "./served-folder.ts";

const yaml = (endpoint: string): string => `
store: sqlite:./tasks.db
adapters:
  gcp:
    use: cloud-workflows
    project: ${demoLocation.project}
    location: ${demoLocation.location}
    endpoint: "${endpoint}"
    questions:
      orders:
        approve:
          message: Send the order?
          schema: { type: object, properties: { ok: { type: boolean } }, required: [ok] }
tools:
${["orders", "transfers", "broken", "endless"]
  .map(
    (name) => `
  - name: ${name}
    description: Runs ${name}.
    adapter: gcp
    target: { workflow: ${name} }
    input: { type: object, properties: { lines: { type: array } } }
    task: { pollIntervalMs: 500 }`,
  )
  .join("")}
`;

/** One branch works through the lines, the other asks a person. */
const orders = `
main:
  params: [input]
  steps:
    - prepare:
        assign:
          - packed: 0
          - approval: null
    - both:
        parallel:
          shared: [packed, approval]
          branches:
            - packing:
                steps:
                  - each:
                      for:
                        value: line
                        in: \${input.lines}
                        steps:
                          - pack:
                              call: sys.sleep
                              args: { seconds: 0.3 }
                          - count:
                              assign:
                                - packed: \${packed + 1}
            - asking:
                steps:
                  - open:
                      call: events.create_callback_endpoint
                      args: { http_callback_method: POST }
                      result: endpoint
                  - approve:
                      call: events.await_callback
                      args: { callback: "\${endpoint}" }
                      result: told
                  - keep:
                      assign:
                        - approval: \${told.http_request.body}
    - done:
        return:
          packed: \${packed}
          approval: \${approval}
`;

/** Two ask at once, and nothing is configured of what. */
const transfers = `
main:
  steps:
    - prepare:
        assign:
          - sure: {}
    - both:
        parallel:
          shared: [sure]
          branches:
${["debit", "credit"]
  .map(
    (name) => `
            - ${name}:
                steps:
                  - open_${name}:
                      call: events.create_callback_endpoint
                      result: endpoint_${name}
                  - confirm_${name}:
                      call: events.await_callback
                      args: { callback: "\${endpoint_${name}}" }
                      result: told_${name}
                  - keep_${name}:
                      assign:
                        - sure.${name}: \${told_${name}.http_request.body.sure}`,
  )
  .join("")}
    - done:
        return: \${sure}
`;

const broken = `
main:
  steps:
    - look:
        raise: { code: 17, message: none left, tags: [NoStock] }
`;

const endless = `
main:
  steps:
    - forever:
        call: sys.sleep
        args: { seconds: 600 }
`;

describe("workflows that a configuration file alone exposes", () => {
  let bench: GcwBench;
  let folder: ServedFolder;
  let served: Served;
  let client: TaskClient;
  beforeAll(async () => {
    bench = await gcwBench();
    await bench.deploy("orders", orders, { description: "Packs and sends an order.\ntaskbridge:input lines:array" });
    await bench.deploy("transfers", transfers);
    await bench.deploy("broken", broken);
    await bench.deploy("endless", endless);
    folder = await servedFolder(yaml(bench.endpoint));
    served = await folder.serve();
    client = taskClient(served.url);
  }, 60_000);
  afterAll(async () => {
    await served?.stop();
    await folder?.close();
    await bench?.stop();
  });

  const input = { lines: [1, 2] };
  const last = async (taskId: string): Promise<SeenTask | undefined> => {
    const seen: SeenTask[] = [];
    await client.listen([taskId], (task) => seen.push(task));
    return seen.at(-1);
  };
  const asked = (taskId: string, count = 1): Promise<SeenTask> =>
    until("it asks", async () => {
      const task = await client.get(taskId);
      return Object.keys(task.inputRequests ?? {}).length === count ? task : undefined;
    });
  const update = async (params: Record<string, unknown>): Promise<void> => {
    expect((await client.request("tasks/update", params)).error).toBeUndefined();
  };
  const textOf = (task: SeenTask | undefined): string => task?.result?.content[0]?.text ?? "";

  it("run to their end for a client of 2026-07-28, which answers the approval of one branch", async () => {
    const { taskId } = await client.start("orders", input);
    const task = await asked(taskId);
    const [key = "", request] = Object.entries(task.inputRequests ?? {})[0] ?? [];
    expect(request?.params).toMatchObject({ message: "Send the order?" });
    await update({ taskId, inputResponses: { [key]: { action: "accept", content: { ok: true } } } });
    const done = await last(taskId);
    expect([done?.status, JSON.parse(textOf(done))]).toEqual(["completed", { packed: 2, approval: { ok: true } }]);
    const [execution] = await bench.executions("orders");
    expect(execution).toMatchObject({ state: "SUCCEEDED", labels: { mcp_run: expect.stringMatching(/^mcp-/) } });
    // Whoever has a callback's address and any account of the project could answer in a person's stead.
    expect(JSON.stringify([task, done])).not.toMatch(/callbacks?\//);
    expect(served.log()).not.toMatch(/callbacks?\//);
  }, 60_000);

  it("ask in two branches at once, without a guess at which is which", async () => {
    const { taskId } = await client.start("transfers");
    const task = await asked(taskId, 2);
    const requests = Object.entries(task.inputRequests ?? {});
    for (const [, { params }] of requests) expect(params.message).toMatch(/does not tell which step/);
    // Any object, which is no form.
    const accept = { action: "accept", content: { json: '{"sure":true}' } };
    await update({
      taskId,
      inputResponses: Object.fromEntries(requests.map(([key]) => [key, accept])),
    });
    const done = await last(taskId);
    expect([done?.status, JSON.parse(textOf(done))]).toEqual(["completed", { debit: true, credit: true }]);
  }, 60_000);

  it("tell that client the error of a failure, and where it happened", async () => {
    const { taskId } = await client.start("broken");
    const done = await last(taskId);
    expect(done).toMatchObject({ status: "completed", result: { isError: true } });
    expect(textOf(done)).toMatch(/none left \(17\) \(in step look of main\)/);
  }, 30_000);

  it("are stopped by it", async () => {
    const { taskId } = await client.start("endless");
    await until("it runs", async () => ((await bench.executions("endless")).length > 0 ? true : undefined));
    await client.request("tasks/cancel", { taskId });
    expect(await last(taskId)).toMatchObject({ status: "cancelled" });
    expect(await bench.executions("endless")).toMatchObject([{ state: "CANCELLED" }]);
  }, 30_000);

  it("run to their end for a client of 2025-11-25, which answers the approval, hears of failures, and cancels", async () => {
    const host = new Client({ name: "host", version: "1" }, { capabilities: { elicitation: { form: {} } } });
    const questions: string[] = [];
    host.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      questions.push(params.message);
      return { action: "accept", content: { ok: false } };
    });
    await host.connect(new StreamableHTTPClientTransport(new URL(served.url)) as Transport);
    const stream = (name: string, args: Record<string, unknown>) =>
      host.experimental.tasks.callToolStream({ name, arguments: args }, undefined, { task: {} });
    const call = async (name: string, args: Record<string, unknown>): Promise<readonly string[]> => {
      const messages: string[] = [];
      for await (const message of stream(name, args)) messages.push(JSON.stringify(message));
      return messages;
    };
    try {
      await host.listTools();
      // The engine writes an object's members in any order.
      const done: { readonly result: { readonly content: readonly [{ readonly text: string }] } } = JSON.parse(
        (await call("orders", input)).at(-1) ?? "",
      );
      expect(JSON.parse(done.result.content[0].text)).toEqual({ packed: 2, approval: { ok: false } });
      expect(questions).toEqual(["Send the order?"]);
      expect((await call("broken", {})).join("\n")).toContain("none left (17)");
      const before = (await bench.executions("endless")).length;
      for await (const message of stream("endless", {})) {
        if (message.type === "taskCreated") {
          await until("it runs", async () => ((await bench.executions("endless")).length > before ? true : undefined));
          await host.experimental.tasks.cancelTask(message.task.taskId);
        }
      }
      const [newest] = await until("it has stopped", async () => {
        const executions = await bench.executions("endless");
        return executions[0]?.state === "ACTIVE" ? undefined : executions;
      });
      expect(newest?.state).toBe("CANCELLED");
    } finally {
      await host.close();
    }
  }, 60_000);

  it("are found by discover and approved of by doctor", async () => {
    const discovered = await folder.runHere("discover", "--json");
    expect([discovered.code, discovered.stdout]).toEqual([0, expect.stringContaining("Packs and sends an order.")]);
    expect(discovered.stdout).toMatch(/"lines":\s*\{\s*"type":\s*"array"/);
    const doctor = await folder.runHere("doctor");
    expect([doctor.code, doctor.stdout]).toEqual([
      0,
      expect.stringMatching(/^ *ok +tools\[0\]\.target\.workflow: orders/m),
    ]);
    expect(doctor.stdout).not.toMatch(/^ *(warning|error)/m);
  }, 30_000);
});

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describeRedis, type RedisBench, redisBench, until } from "../redis-bench.ts";
import { type SeenTask, type TaskClient, taskClient } from "../task-client.ts";
import { type Served, type ServedFolder, servedFolder } from "./served-folder.ts";

const tool = (name: string): string => `
  - name: ${name}
    description: Does ${name}.
    adapter: queues
    target: { queue: reports, job: ${name} }
    input: { type: object, properties: { customer: { type: string }, pageMs: { type: integer } } }
    task: { pollIntervalMs: 250 }`;

const yaml = ({ url, prefix }: RedisBench): string => `
store: sqlite:./tasks.db
adapters:
  queues: { use: bullmq, connection: "${url}", prefix: ${prefix} }
tools:${["render", "publish", "wait", "break"].map(tool).join("")}
`;

/** Nothing of a stack, nor of where the worker lies. */
const hasStack = (text: string): boolean => /pipeline-worker|\bat \w+ ?\(|deepInside/.test(text);

describeRedis("a queue that a configuration file alone exposes", () => {
  let bench: RedisBench;
  let folder: ServedFolder;
  let served: Served;
  beforeAll(async () => {
    bench = await redisBench({});
    await bench.workAlone("pipeline");
    folder = await servedFolder(yaml(bench));
    served = await folder.serve();
  }, 60_000);
  afterAll(async () => {
    await served?.stop();
    await folder?.close();
    await bench?.close();
  });

  /** The audit has what models must not see. */
  const stackInAudit = (taskId: string): Promise<true> =>
    until("the stack is in the audit", async () => {
      const lines = served.log().split("\n");
      const refOf = lines.find((line) => line.includes(taskId) && line.includes("start_accepted")) ?? "";
      const id = /mcp-[0-9a-f]{32}/.exec(refOf)?.[0] ?? taskId;
      return lines.some((line) => line.includes(id) && line.includes("deepInside")) || undefined;
    });

  describe("to a client of 2026-07-28", () => {
    let client: TaskClient;
    beforeAll(() => {
      client = taskClient(served.url);
    });
    const frames = async (taskId: string): Promise<readonly SeenTask[]> => {
      const seen: SeenTask[] = [];
      await client.listen([taskId], (task) => seen.push(task));
      return seen;
    };

    it("runs a job to its end, with its progress", async () => {
      const { taskId } = await client.start("render", { customer: "acme", pageMs: 300 });
      const seen = await frames(taskId);
      expect(seen.map(({ statusMessage }) => statusMessage)).toEqual(
        expect.arrayContaining(["2 of 3: page 2", "3 of 3: page 3"]),
      );
      expect(seen.at(-1)).toMatchObject({ status: "completed" });
      expect(JSON.parse(seen.at(-1)?.result?.content[0]?.text ?? "")).toEqual({ pages: 3, customer: "acme" });
    });

    it("puts its question", async () => {
      const { taskId } = await client.start("publish", { customer: "acme" });
      const asked = await until("it asks", async () => {
        const task = await client.get(taskId);
        return task.status === "input_required" ? task : undefined;
      });
      const [key = "", request] = Object.entries(asked.inputRequests ?? {})[0] ?? [];
      expect(request?.params).toMatchObject({ message: "Publish for acme?" });
      await client.request("tasks/update", {
        taskId,
        inputResponses: { [key]: { action: "accept", content: { ok: true } } },
      });
      const [last] = (await frames(taskId)).slice(-1);
      expect(JSON.parse(last?.result?.content[0]?.text ?? "")).toEqual({ action: "accept", ok: true });
    });

    it("stops it", async () => {
      const { taskId } = await client.start("wait");
      await until("it runs", async () => (await bench.queue.getActiveCount()) > 0 || undefined);
      await client.request("tasks/cancel", { taskId });
      expect((await frames(taskId)).at(-1)).toMatchObject({ status: "cancelled" });
      expect(await bench.queue.getActiveCount()).toBe(0);
    });

    it("tells why it failed, and keeps the stack for the audit", async () => {
      const { taskId } = await client.start("break");
      const last = (await frames(taskId)).at(-1);
      expect(last).toMatchObject({ status: "completed", result: { isError: true } });
      expect(last?.result?.content[0]?.text).toContain("the template is missing");
      expect(hasStack(JSON.stringify(last))).toBe(false);
      await stackInAudit(taskId);
    });
  });

  describe("to a client of 2025-11-25", () => {
    const client = new Client({ name: "host", version: "1" }, { capabilities: { elicitation: { form: {} } } });
    const questions: string[] = [];
    beforeAll(async () => {
      client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
        questions.push(params.message);
        return { action: "accept", content: { ok: false } };
      });
      await client.connect(new StreamableHTTPClientTransport(new URL(served.url)) as Transport);
      await client.listTools();
    });
    afterAll(() => client.close());

    /** The stream of one call, as the SDK gives it. */
    const call = async (name: string, args: Record<string, unknown> = {}, onTask?: (taskId: string) => void) => {
      const messages: { type: string; text: string }[] = [];
      const stream = client.experimental.tasks.callToolStream({ name, arguments: args }, undefined, { task: {} });
      for await (const message of stream) {
        if (message.type === "taskCreated") onTask?.(message.task.taskId);
        const { type, ...rest } = message;
        messages.push({ type, text: JSON.stringify("error" in rest ? rest.error.message : rest) });
      }
      return messages;
    };

    it("runs a job to its end, with its progress", async () => {
      const messages = await call("render", { customer: "acme", pageMs: 500 });
      expect(messages.filter(({ type }) => type === "taskStatus").map(({ text }) => text)).toEqual(
        expect.arrayContaining([expect.stringMatching(/of 3: page/)]),
      );
      expect(messages.at(-1)).toMatchObject({ type: "result" });
      expect(messages.at(-1)?.text).toContain('{\\"pages\\":3,\\"customer\\":\\"acme\\"}');
    });

    it("puts its question", async () => {
      const messages = await call("publish", { customer: "globex" });
      expect(questions).toEqual(["Publish for globex?"]);
      expect(messages.at(-1)?.text).toContain('{\\"action\\":\\"accept\\",\\"ok\\":false}');
    });

    it("stops it", async () => {
      const stopped = call("wait", {}, (taskId) => void client.experimental.tasks.cancelTask(taskId));
      const messages = await stopped;
      expect(messages.at(-1)?.text).toMatch(/cancelled/);
      await until("the worker is free", async () => (await bench.queue.getActiveCount()) === 0 || undefined);
    });

    it("tells why it failed, and keeps the stack for the audit", async () => {
      let id = "";
      const messages = await call("break", {}, (taskId) => {
        id = taskId;
      });
      // Its stream ends with an error that says nothing; the cause is in the last status.
      expect(messages.filter(({ type }) => type === "taskStatus").at(-1)?.text).toContain("the template is missing");
      expect(hasStack(JSON.stringify(messages))).toBe(false);
      await stackInAudit(id);
    });
  });

  describe("to the command line", () => {
    const onServer = (...args: readonly string[]) => folder.run(...args, "--url", served.url);

    it("runs a job to its end, with its progress", async () => {
      const input = JSON.stringify({ customer: "acme", pageMs: 600 });
      const { code, stdout, stderr } = await onServer("call", "render", "--input", input);
      expect([code, JSON.parse(stdout)]).toEqual([0, { pages: 3, customer: "acme" }]);
      expect(stderr).toMatch(/page \d/);
    }, 30_000);

    it("puts its question", async () => {
      const { taskId } = await taskClient(served.url).start("publish", { customer: "initech" });
      await until("it asks", async () => {
        const { stdout } = await onServer("tasks", "show", taskId);
        return stdout.includes("Publish for initech?") || undefined;
      });
      const answered = await onServer("tasks", "answer", taskId, "--input", '{"ok":true}');
      expect(answered).toMatchObject({ code: 0 });
      const { code, stdout } = await onServer("tasks", "watch", taskId);
      expect([code, JSON.parse(stdout)]).toEqual([0, { action: "accept", ok: true }]);
    }, 60_000);

    it("stops it", async () => {
      const { taskId } = await taskClient(served.url).start("wait");
      expect(await onServer("tasks", "cancel", taskId)).toMatchObject({ code: 0 });
      const { code, stderr } = await onServer("tasks", "watch", taskId);
      expect([code, stderr]).toEqual([1, expect.stringContaining("cancelled")]);
    }, 30_000);

    it("tells why it failed, without the stack", async () => {
      const { code, stdout, stderr } = await onServer("call", "break");
      expect(code).toBe(1);
      expect(stderr).toContain("the template is missing");
      expect(hasStack(stdout + stderr)).toBe(false);
    }, 30_000);
  });
});

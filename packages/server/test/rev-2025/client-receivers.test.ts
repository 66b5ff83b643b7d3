import { afterEach, describe, expect, test } from "@jest/globals";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { bindTaskReceiver } from "@modelcontextprotocol/ext-tasks/receiver";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { eventually, serve, stopAll } from "../serve.ts";
import { job, yes } from "./task-calls.ts";

afterEach(stopAll);

const clientInfo = { name: "host", version: "1" };
const created = z.looseObject({ task: z.looseObject({ taskId: z.string() }) });
const anyResult = z.looseObject({});
const question = { message: "Sure?", schema: yes };

interface Answer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: { readonly ok: boolean };
}

/** A person at a host that takes questions as tasks: answers when the test says so. */
const person = () => {
  const asked: string[] = [];
  let answer: (given: Answer) => void = () => {};
  const ask = (message: string, signal?: AbortSignal): Promise<Answer> => {
    asked.push(message);
    return new Promise((resolve) => {
      answer = resolve;
      signal?.addEventListener("abort", () => resolve({ action: "cancel" }));
    });
  };
  return { asked, ask, answer: (given: Answer) => answer(given) };
};

type Person = ReturnType<typeof person>;

interface Host {
  /** Calls the job as a task; gives its ID. */
  call(): Promise<string>;
  cancel(taskId: string): Promise<unknown>;
  /** The statuses of the client's own tasks. */
  statuses(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const openReceiver = async (url: string, { ask }: Person): Promise<Host> => {
  const client = new Client(clientInfo, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: "legacy" },
  });
  const seen = new Map<string, string>();
  const receiver = bindTaskReceiver(client, {
    methods: { "elicitation/create": true },
    pollIntervalMs: 100,
    elicitation: (async (request: { params: { message: string } }, task: { taskId: string; signal: AbortSignal }) => {
      seen.set(task.taskId, "working");
      const given = await ask(request.params.message, task.signal);
      seen.set(task.taskId, task.signal.aborted ? "cancelled" : "completed");
      return given;
    }) as never,
  });
  client.registerCapabilities({ tasks: receiver.capabilities } as never);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return {
    call: async () =>
      (await client.request({ method: "tools/call", params: { name: "job", arguments: {}, task: {} } }, created)).task
        .taskId,
    cancel: (taskId) => client.request({ method: "tasks/cancel", params: { taskId } }, anyResult),
    statuses: async () => [...seen.values()],
    close: () => client.close(),
  };
};

const openFirst = async (url: string, { ask }: Person): Promise<Host> => {
  const taskStore = new InMemoryTaskStore();
  const client = new FirstClient(clientInfo, {
    capabilities: { elicitation: { form: {} }, tasks: { cancel: {}, requests: { elicitation: { create: {} } } } },
    taskStore,
  });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }, { taskStore: tasks }) => {
    if (params.task === undefined || tasks === undefined) throw new Error("it was not asked as a task");
    const task = await tasks.createTask({ ttl: params.task.ttl ?? null, pollInterval: 100 });
    void ask(params.message).then((given) => tasks.storeTaskResult(task.taskId, "completed", { ...given }));
    return { task } as never;
  });
  await client.connect(new FirstHttpTransport(new URL(url)) as never);
  return {
    call: async () =>
      (await client.request({ method: "tools/call", params: { name: "job", arguments: {}, task: {} } }, created)).task
        .taskId,
    cancel: (taskId) => client.experimental.tasks.cancelTask(taskId),
    statuses: async () => (await taskStore.listTasks()).tasks.map(({ status }) => status),
    close: async () => {
      taskStore.cleanup();
      await client.close();
    },
  };
};

describe.each([
  ["the extension's receiver on the second SDK", openReceiver],
  ["the first SDK's client with a task store", openFirst],
])("[B-13] %s", (_name, connect) => {
  const open = async () => {
    const { url, backend } = await serve({ tools: [job] });
    const someone = person();
    const host = await connect(url, someone);
    const taskId = await host.call();
    backend.of().ask(question);
    await eventually(() => someone.asked.length === 1);
    return { backend, someone, host, taskId };
  };

  test.each<Answer>([{ action: "accept", content: { ok: true } }, { action: "decline" }])(
    "a person's answer: %j",
    async (given) => {
      const { backend, someone, host } = await open();
      someone.answer(given);
      await eventually(() => backend.of().answers.length === 1);
      expect(backend.of().answers[0]).toMatchObject(given);
      await eventually(async () => (await host.statuses()).every((status) => status === "completed"));
      expect(someone.asked).toEqual(["Sure?"]);
      await host.close();
    },
  );

  test("its task is cancelled with ours", async () => {
    const { someone, host, taskId, backend } = await open();
    await host.cancel(taskId);
    await eventually(async () => (await host.statuses()).includes("cancelled"));
    expect(backend.of().answers).toEqual([]);
    expect(someone.asked).toEqual(["Sure?"]);
    await host.close();
  });
});

import { expect } from "@jest/globals";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { eventually } from "../serve.ts";
import { largeText } from "./our-pipelines.ts";
import { outcomeOf } from "./own-calls.ts";

export interface OurCallsOptions {
  /** False where a server is made for each request: it knows nothing of its client, and cannot be answered. */
  readonly canAsk: boolean;
}

/** Whom our pipelines ask. Before `connect`. */
export const answerOurs = (client: Client): void => {
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
    action: "accept",
    content: { ok: params.message === "Sure?" },
  }));
};

/** The whole life of our pipelines as a client of SDK 1 sees it, with nothing but that SDK's own means. */
export const expectOurTasks = async (client: Client, { canAsk }: OurCallsOptions): Promise<void> => {
  const tasks = client.experimental.tasks;
  const run = async (name: string) => {
    const seen: string[] = [];
    let taskId = "";
    let last: unknown;
    const stream = tasks.callToolStream({ name, arguments: {} }, CallToolResultSchema, { task: { ttl: 90_000 } });
    for await (const message of stream) {
      seen.push(message.type);
      if (message.type === "taskCreated") taskId = message.task.taskId;
      if (message.type === "result") last = message.result;
      if (message.type === "error") last = message.error.message;
    }
    return { seen, taskId, last };
  };
  const create = async (name: string): Promise<string> => {
    const params = { name, arguments: {}, task: {} };
    const result = await client.request({ method: "tools/call", params }, anyResult);
    const { task } = result as { task: { taskId: string; status: string } };
    expect(task.status).toBe("working");
    return task.taskId;
  };
  const statusOf = async (taskId: string): Promise<string> => (await tasks.getTask(taskId)).status;

  const { tools } = await client.listTools();
  expect(tools.filter(({ name }) => name.startsWith("our-")).map(({ execution }) => execution?.taskSupport)).toEqual(
    Array(5).fill("optional"),
  );
  const quick = await run("our-quick");
  expect(quick.seen[0]).toBe("taskCreated");
  expect(quick.last).toMatchObject({
    content: [{ type: "text", text: expect.stringContaining('"files":14') }],
    _meta: { "io.modelcontextprotocol/related-task": { taskId: quick.taskId } },
  });
  const ended = await tasks.getTask(quick.taskId);
  expect(ended.status).toBe("completed");
  // It counts from the creation on.
  expect(ended.ttl).toBeGreaterThanOrEqual(90_000);

  const failing = await run("our-failing");
  expect(failing.last).toContain(`Task ${failing.taskId} failed`);
  expect(await tasks.getTask(failing.taskId)).toMatchObject({
    status: "failed",
    statusMessage: expect.stringContaining("the disk is full"),
  });

  const slow = await create("our-slow");
  expect(await statusOf(slow)).toBe("working");
  expect(await tasks.cancelTask(slow)).toMatchObject({ taskId: slow, status: "cancelled" });
  expect(await statusOf(slow)).toBe("cancelled");
  expect(await outcomeOf(tasks.cancelTask(slow))).toMatchObject({ code: -32_602 });
  expect(await outcomeOf(tasks.getTaskResult(slow, CallToolResultSchema))).toMatchObject({ code: -32_603 });

  if (canAsk) {
    const asking = await run("our-asking");
    expect(asking.last).toMatchObject({
      content: [{ text: JSON.stringify({ action: "accept", content: { ok: true } }) }],
    });
  } else {
    const asking = await create("our-asking");
    await eventually(async () => (await tasks.getTask(asking)).statusMessage?.includes("Sure?"));
    expect(await statusOf(asking)).toBe("working");
    await tasks.cancelTask(asking);
  }
  await expectLargeResult(client, (await run("our-large")).last);

  const { tasks: listed } = await tasks.listTasks();
  expect(listed).toHaveLength(5);
  expect(listed.map(({ taskId }) => taskId)).toEqual(expect.arrayContaining([quick.taskId, failing.taskId, slow]));
  expect(await outcomeOf(tasks.getTask("nope"))).toMatchObject({
    code: -32_602,
    message: expect.stringMatching(/not found/i),
  });
  expect(await outcomeOf(tasks.listTasks("nope"))).toMatchObject({ code: -32_602 });
};

const expectLargeResult = async (client: Client, result: unknown): Promise<void> => {
  const { content } = CallToolResultSchema.parse(result);
  const link = content.find((block) => block.type === "resource_link");
  let reported = "";
  let uri: string | undefined = link?.uri;
  while (uri !== undefined) {
    const { contents } = await client.readResource({ uri });
    const [part] = contents as { text: string; _meta?: Record<string, string> }[];
    reported += part?.text ?? "";
    uri = part?._meta?.["taskbridge/nextUri"];
  }
  expect(reported).toBe(largeText);
  expect((await client.listResourceTemplates()).resourceTemplates.map(({ name }) => name)).toContain("task result");
};

const anyResult = { safeParse: (data: unknown) => ({ success: true as const, data }) } as never;

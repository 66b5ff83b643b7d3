import { afterEach, describe, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { job, yes } from "./task-calls.ts";

afterEach(stopAll);

/** The first SDK's client, whose user answers when the test says so. */
const open = async () => {
  const { url, backend, server } = await serve({ tools: [{ ...job, task: { pollIntervalMs: 50 } }] });
  const client = new Client({ name: "host", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  const answers: ((result: ElicitResult) => void)[] = [];
  const withdrawn: AbortSignal[] = [];
  client.setRequestHandler(ElicitRequestSchema, (_request, { signal }) => {
    withdrawn.push(signal);
    return new Promise((resolve) => void answers.push(resolve));
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
  await client.listTools();
  /** Runs the job until the client gives up. */
  const run = async (options: object, begun: () => void): Promise<{ taskId: string; error: string }> => {
    let taskId = "";
    const stream = client.experimental.tasks.callToolStream(
      { name: "job", arguments: {} },
      CallToolResultSchema,
      options,
    );
    for await (const message of stream) {
      if (message.type === "taskCreated") {
        taskId = message.task.taskId;
        begun();
      }
      if (message.type === "error") return { taskId, error: message.error.message };
    }
    throw new Error("the stream has ended without an error");
  };
  const result = (taskId: string) => client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
  return { backend, server, client, answers, withdrawn, run, result };
};

describe("case 13: a client of 2025-11-25", () => {
  test("[B-16] whose wait times out while its user thinks: the late answer counts", async () => {
    const { backend, answers, withdrawn, run, result, client } = await open();
    const ask = () => void backend.of().ask({ message: "Sure?", schema: yes });
    const { taskId, error } = await inTime(run({ timeout: 500 }, ask));
    expect(error).toContain("timed out");
    expect(answers).toHaveLength(1);
    expect(withdrawn[0]?.aborted).toBe(false);
    answers[0]?.({ action: "accept", content: { ok: true } });
    await eventually(() => backend.of().answers.length === 1);
    expect(answers).toHaveLength(1);
    const wait = result(taskId);
    backend.of().succeed("done");
    expect(await inTime(wait)).toMatchObject({ content: [{ text: '"done"' }] });
    expect(backend.of().cancels).toEqual([]);
    await client.close();
  });

  test("that aborts its stream takes back requests that were answered long ago: the task goes on", async () => {
    const { backend, run, result, client, server } = await open();
    const leaving = new AbortController();
    const { taskId } = await inTime(run({ signal: leaving.signal }, () => leaving.abort("the user looks elsewhere")));
    backend.of().succeed("done");
    expect(await inTime(result(taskId))).toMatchObject({ content: [{ text: '"done"' }] });
    expect(backend.of().cancels).toEqual([]);
    const { record } = await server.engine.readTask(taskId, { operator: true });
    expect(record.cancel).toBeUndefined();
    await client.close();
  });
});

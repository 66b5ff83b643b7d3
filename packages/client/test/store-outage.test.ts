import { afterEach, expect, test } from "@jest/globals";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { BridgeError } from "@taskbridge/core";
import { memoryStore } from "@taskbridge/core/memory";
import type { TaskStore } from "@taskbridge/core/store";
import { type PendingCall, taskClient, type WireName } from "../src/index.ts";
import { connections, endAll, eventually, firstOverHttp, jsonOf, serve } from "./serve.ts";

afterEach(endAll);

/** A store whose records cannot be reached while it is away. */
const storeWithOutages = () => {
  const stored = memoryStore();
  let isUnavailable = false;
  let refused = 0;
  const operations: string[] = [];
  const guard =
    <Given extends unknown[], Answer>(operation: string, own: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      if (!isUnavailable) return own(...given);
      refused++;
      operations.push(operation);
      throw new BridgeError("unavailable", "10.1.2.3:6379 does not answer", { operation });
    };
  const store: TaskStore = {
    ...stored,
    create: guard("create", stored.create),
    read: guard("read", stored.read),
    revise: guard("revise", stored.revise),
    list: guard("list", stored.list),
    readPayload: guard("readPayload", stored.readPayload),
  };
  /** Until it was asked in vain so often. */
  const unavailable = async (times: number): Promise<void> => {
    refused = 0;
    isUnavailable = true;
    await eventually(() => refused >= times);
    isUnavailable = false;
  };
  return {
    store,
    away: unavailable,
    refusedOf: (operation: string) => operations.filter((one) => one === operation).length,
    begin: () => {
      isUnavailable = true;
    },
    end: () => {
      isUnavailable = false;
    },
  };
};

const wires: readonly WireName[] = ["2026-07-28", "2025-11-25", "sep-1686", "none"];
const ways = connections.flatMap(({ name, modern, open }) =>
  wires.filter((wire) => wire === "none" || (wire === "2026-07-28") === modern).map((wire) => ({ name, wire, open })),
);

test("a call has its result on every wire although the store was away while it was waited for", async () => {
  const { store, away: unavailable } = storeWithOutages();
  const served = await serve({ wires, store, limits: { maxConcurrentTasksPerOwner: 100 } });
  const pending = [];
  for (const { wire, open } of ways) {
    pending.push(taskClient(await open(served), { wire, noticeTimeoutMs: 200 }).beginCall("job"));
  }
  await eventually(() => served.backend.starts() === ways.length);
  await unavailable(20);
  for (const execution of served.backend.executions) execution.succeed({ done: 1 });
  const results = await Promise.all(pending.map(jsonOf));
  expect(results).toEqual(ways.map(() => ({ done: 1 })));
});

test("an SDK's own client is told that the store is away, and nothing of the task", async () => {
  const { store, begin, end } = storeWithOutages();
  const served = await serve({ wires, store });
  const client = await firstOverHttp(served.url);
  const { tasks } = client.experimental;
  const stream = tasks.callToolStream({ name: "job", arguments: {} }, CallToolResultSchema, { task: {} });
  const { value: first } = await stream.next();
  const taskId = first?.type === "taskCreated" ? first.task.taskId : "";
  begin();
  const unavailable = { code: 503, data: { reason: "unavailable", retryAfterMs: 1_000 } };
  await expect(tasks.getTask(taskId)).rejects.toMatchObject(unavailable);
  await expect(tasks.getTaskResult(taskId, CallToolResultSchema)).rejects.toMatchObject(unavailable);
  await expect(tasks.cancelTask(taskId)).rejects.toMatchObject(unavailable);
  end();
  expect(await tasks.getTask(taskId)).toMatchObject({ status: "working" });
  served.backend.of().succeed({ done: 1 });
  const { content } = await tasks.getTaskResult(taskId, CallToolResultSchema);
  expect(content).toEqual([{ type: "text", text: '{"done":1}' }]);
});

test("a call that bears its own ID is begun once, when the store is back; others are told that it is away", async () => {
  const { store, begin, end, refusedOf } = storeWithOutages();
  const served = await serve({ wires, store, limits: { maxConcurrentTasksPerOwner: 100 } });
  const begun = async ({ wire, open }: (typeof ways)[number]): Promise<PendingCall> =>
    taskClient(await open(served), { wire, noticeTimeoutMs: 60_000 }).beginCall("quick");
  begin();
  const drafts = ways.filter(({ wire }) => wire === "sep-1686");
  const repeated = await Promise.all(drafts.map(begun));
  const refused = await Promise.all(ways.filter(({ wire }) => wire !== "sep-1686").map(begun));
  for (const call of refused)
    await expect(call.result()).rejects.toMatchObject({ code: "refused", rpc: { code: 503 }, retryAfterMs: 1_000 });
  // Refused as the others were, they look for their tasks.
  await eventually(() => refusedOf("read") >= drafts.length);
  end();
  expect(await Promise.all(repeated.map(jsonOf))).toEqual(drafts.map(() => ({ quick: true })));
  expect(served.backend.starts()).toBe(drafts.length);
});

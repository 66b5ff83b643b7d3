import { describe, expect, test } from "@jest/globals";
import { systemClock } from "../src/clock.ts";
import { createTaskClient } from "../src/create-task-client.ts";
import { taskClient } from "../src/index.ts";
import { core, modern, type Script, type ScriptedClient, scriptedClient } from "./scripted-client.ts";
import { eventually } from "./serve.ts";

const listed = { tools: [{ name: "job", inputSchema: {}, execution: { taskSupport: "optional" } }] };
const elicit = {
  jsonrpc: "2.0",
  id: 7,
  method: "elicitation/create",
  params: { message: "Sure?", requestedSchema: { type: "object", properties: {} } },
};
const round = {
  resultType: "input_required",
  requestState: "x",
  inputRequests: { sure: { method: "elicitation/create", params: elicit.params } },
};

const methodsOf = ({ sent }: ScriptedClient): readonly unknown[] => sent.map(({ method }) => method);

interface Way {
  readonly script: Omit<Script, "answer">;
  readonly options?: { readonly taskId: string };
}

/** Each wire on which a tool can ask before there is a task. */
const ways: readonly [string, Way][] = [
  ["2026-07-28", { script: modern }],
  ["none on 2026-07-28", { script: { ...modern, capabilities: {} } }],
  ["2025-11-25", { script: core }],
  ["sep-1686", { script: { capabilities: {} }, options: { taskId: "mine" } }],
];

describe.each(ways)("cancelled while a question before the task is open: %s", (_name, { script, options = {} }) => {
  const begin = () => {
    const client: ScriptedClient = scriptedClient({
      ...script,
      answer: (method) => {
        if (method === "tools/list") return listed;
        if (method === "tools/call" && script.version === modern.version) return round;
        if (method === "tools/call") client.receive(elicit);
        if (method === "tasks/get") return { error: { code: -32_602, message: "Task not found" } };
        return undefined;
      },
    });
    let asked: AbortSignal | undefined;
    // The pauses of the cancel pass at once.
    const clock = { ...systemClock, sleep: async () => {} };
    const pending = createTaskClient(client, {}, clock).beginCall(
      "job",
      {},
      {
        ...options,
        onQuestion: (_question, { signal }) => {
          asked = signal;
          return new Promise(() => {});
        },
      },
    );
    return { client, pending, asked: () => asked };
  };

  test("the question is taken back, and the call is over", async () => {
    const { client, pending, asked } = begin();
    await eventually(() => asked() !== undefined);
    await pending.cancel();
    expect(asked()?.aborted).toBe(true);
    // A question of 2026-07-28 is the answer of the call: no request is open that could be cancelled.
    const code = script.version === modern.version ? "outcome_unknown" : "cancelled";
    await expect(pending.result()).rejects.toMatchObject({ code });
    await expect(pending.created).rejects.toMatchObject({ code });
    expect(methodsOf(client).filter((method) => method === "tools/call")).toHaveLength(1);
    if (script.version === modern.version) return;
    expect(client.sent).toContainEqual({ jsonrpc: "2.0", id: 7, result: { action: "cancel" } });
    expect(methodsOf(client)).toContain("notifications/cancelled");
  });
});

test("cancelled as soon as it is answered: the answer is not sent any more, and what the tool does is not known", async () => {
  const client = scriptedClient({ ...modern, capabilities: {}, answer: () => round });
  const pending = taskClient(client).beginCall(
    "job",
    {},
    {
      onQuestion: () => {
        queueMicrotask(() => void pending.cancel());
        return { action: "decline" };
      },
    },
  );
  await expect(pending.result()).rejects.toMatchObject({ code: "outcome_unknown" });
  expect(methodsOf(client)).toEqual(["tools/call"]);
});

test("cancelled while an answered call is under way again: that request is cancelled", async () => {
  let calls = 0;
  const client = scriptedClient({ ...modern, capabilities: {}, answer: () => (++calls === 1 ? round : undefined) });
  const pending = taskClient(client).beginCall("job", {}, { onQuestion: () => ({ action: "decline" }) });
  await eventually(() => calls === 2);
  await pending.cancel();
  await expect(pending.result()).rejects.toMatchObject({ code: "cancelled" });
});

describe("a call that is cancelled before it is answered", () => {
  test.each([
    ["2026-07-28", modern, { resultType: "task", taskId: "t-1", status: "working" }],
    ["2025-11-25", core, { task: { taskId: "t-1", status: "working" } }],
  ] as const)("the task that comes all the same is cancelled: %s", async (_wire, script, created) => {
    let answer = (_value: unknown): void => {};
    const answered = new Promise((resolve) => {
      answer = resolve;
    });
    const client: ScriptedClient = scriptedClient({
      ...script,
      answer: (method) => {
        if (method === "tools/list") return listed;
        if (method === "tools/call") return answered;
        if (method === "tasks/get") return { resultType: "complete", taskId: "t-1", status: "cancelled" };
        return method === "tasks/cancel" ? {} : undefined;
      },
    });
    const pending = taskClient(client).beginCall("job");
    await eventually(() => methodsOf(client).includes("tools/call"));
    const cancelled = pending.cancel();
    answer(created);
    await cancelled;
    expect(methodsOf(client)).toContain("tasks/cancel");
    await expect(pending.result()).rejects.toMatchObject({ code: "cancelled", taskId: "t-1" });
  });

  test("before it is known whether it is to be a task, it is not sent", async () => {
    const client = scriptedClient({ ...core, answer: () => undefined });
    const pending = taskClient(client).beginCall("job");
    await pending.cancel();
    await expect(pending.result()).rejects.toMatchObject({ code: "cancelled" });
    expect(methodsOf(client)).toEqual(["tools/list"]);
  });
});

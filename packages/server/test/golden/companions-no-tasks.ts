import { eventually } from "../serve.ts";
import type { Client20260728 } from "./client-2026-07-28.ts";
import type { Scenario } from "./golden-wire.ts";

const yes = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const call = { name: "job", arguments: {} };
const elicitation = { capabilities: { elicitation: {} } };

/** A call of a companion. */
export const companion = (name: string, args: Record<string, unknown>): Record<string, unknown> => ({
  name,
  arguments: args,
});

const status: Scenario<Client20260728> = {
  name: "companions-status",
  options: { waitMs: 0 },
  play: async ({ client, backend, clock, settle }) => {
    await client.request("tools/list");
    const taskId = handleOf(await client.request("tools/call", call));
    // At once, and again.
    await client.request("tools/call", companion("task_status", { taskId }));
    const waiting = client.open("tools/call", companion("task_status", { taskId, waitSeconds: 30 }), {
      meta: { progressToken: "p" },
    });
    await settle();
    await clock.advance(15_000);
    const reply = await waiting;
    await reply.next();
    backend.of().succeed({ files: 14 });
    await settle();
    await reply.rest();
    await client.request("tools/call", companion("task_status", { taskId }));
  },
};

const result: Scenario<Client20260728> = {
  name: "companions-result",
  options: { waitMs: 0, limits: { maxInlineResultBytes: 32 } },
  play: async ({ client, backend, settle }) => {
    const taskId = handleOf(await client.request("tools/call", call));
    await client.request("tools/call", companion("task_result", { taskId }));
    backend.of().succeed("one two three four five six seven eight");
    await settle();
    await client.request("tools/call", companion("task_status", { taskId }));
    await client.request("tools/call", companion("task_result", { taskId, offset: 0, length: 20 }));
    await client.request("tools/call", companion("task_result", { taskId, offset: 20 }));
    await client.request("tools/call", companion("task_result", { taskId, offset: 400 }));
  },
};

const cancel: Scenario<Client20260728> = {
  name: "companions-cancel",
  options: { waitMs: 0 },
  play: async ({ client }) => {
    const taskId = handleOf(await client.request("tools/call", call));
    for (let time = 0; time < 2; time++) await client.request("tools/call", companion("task_cancel", { taskId }));
  },
};

const unknown: Scenario<Client20260728> = {
  name: "error-companions",
  options: { waitMs: 0 },
  play: async ({ client }) => {
    await client.request("tools/call", companion("task_status", { taskId: "made-up" }));
    await client.request("tools/call", call);
    await client.request("tools/call", companion("task_status", { taskId: "made-up" }));
    await client.request("tools/call", companion("task_status", { taskId: "made-up", waitSeconds: 60 }));
    await client.request("tools/call", companion("task_answer", { taskId: "made-up", action: "accept" }));
    await client.request("tools/call", companion("task_status", { taskId: "made-up" }), { tasks: true });
  },
};

const question: Scenario<Client20260728> = {
  name: "question-to-the-user",
  options: { waitMs: 30_000, fake: { onStart: (run) => run.ask({ message: "Delete 14 files?", schema: yes }) } },
  play: async ({ client, backend, settle }) => {
    const asked = (await client.request("tools/call", call, elicitation)).result ?? {};
    const [key = ""] = Object.keys((asked.inputRequests ?? {}) as object);
    const inputResponses = { [key]: { action: "accept", content: { ok: true } } };
    const { requestState } = asked;
    const other = { ...call, arguments: { other: true }, inputResponses, requestState };
    await client.request("tools/call", other, elicitation);
    const again = client.request("tools/call", { ...call, inputResponses, requestState }, elicitation);
    await eventually(() => backend.of().answers.length === 1);
    await settle();
    backend.of().succeed("deleted");
    await settle();
    await again;
  },
};

const handleOf = (answer: { readonly result?: Record<string, unknown> }): string =>
  String((answer.result?.structuredContent as { readonly taskId?: string } | undefined)?.taskId);

/** The companions, and what they and calls ask. */
export const companionsNoTasks: readonly Scenario<Client20260728>[] = [status, result, cancel, unknown, question];

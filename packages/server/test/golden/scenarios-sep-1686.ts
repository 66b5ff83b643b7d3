import type { Prepare } from "@taskbridge/core";
import { eventually } from "../serve.ts";
import type { Client20251125, Session20251125 } from "./client-2025-11-25.ts";
import type { Reply } from "./conversation.ts";
import { fakeTool, type Scenario } from "./golden-wire.ts";

const wires = ["2026-07-28", "2025-11-25", "sep-1686", "none"] as const;
const yes = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

/** Revisions before 2025-11-25 have no tasks of their own. */
const connect = (client: Client20251125): Promise<Session20251125> => client.connect({ revision: "2025-06-18" });

const related = (taskId: string): object => ({ "modelcontextprotocol.io/related-task": { taskId } });

const toCall = (taskId: unknown, more: object = {}, name = "job"): Record<string, unknown> => ({
  name,
  arguments: {},
  _meta: { "modelcontextprotocol.io/task": { taskId, ...more } },
});

/** Sends a call, and reads the notice of its task. */
const begin = async (session: Session20251125, taskId: string, more: object = {}): Promise<Reply> => {
  const stream = await session.open("tools/call", toCall(taskId, more));
  await stream.next();
  return stream;
};

const about = (taskId: string): Record<string, unknown> => ({ taskId, _meta: related(taskId) });

const create: Scenario<Client20251125> = {
  name: "create-poll-result",
  options: {
    wires,
    tools: [fakeTool("job", { output: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } })],
    fake: { startsAs: "queued" },
  },
  play: async ({ client, backend, clock, settle }) => {
    const session = await connect(client);
    const stream = await begin(session, "786512e2-9e0d-44bd-8f29-789f320fe840", { keepAlive: 120_000 });
    const taskId = "786512e2-9e0d-44bd-8f29-789f320fe840";
    await session.request("tasks/get", about(taskId));
    await clock.advance(1_000);
    backend.of().run();
    await settle();
    await session.request("tasks/get", about(taskId));
    await session.request("tasks/result", about(taskId));
    await clock.advance(1_000);
    backend.of().succeed({ n: 14 });
    await settle();
    await stream.rest();
    await session.request("tasks/get", about(taskId));
    for (const _time of ["once", "again"]) await session.request("tasks/result", about(taskId));
  },
};

const progress: Scenario<Client20251125> = {
  name: "progress",
  options: { wires },
  play: async ({ client, backend, clock, settle }) => {
    const session = await connect(client);
    const { _meta, ...call } = toCall("c-1");
    const stream = await session.open("tools/call", { ...call, _meta: { ...(_meta as object), progressToken: "p" } });
    await stream.next();
    backend.of().progress({ done: 3, total: 10, message: "packing" });
    await settle();
    await clock.advance(1_000);
    await stream.next();
    await clock.advance(15_000);
    await stream.next();
    backend.of().succeed("done");
    await settle();
    await stream.rest();
  },
};

const ends: Scenario<Client20251125> = {
  name: "job-and-call-that-fail",
  options: { wires },
  play: async ({ client, backend, settle }) => {
    const session = await connect(client);
    const streams = [await begin(session, "job"), await begin(session, "call")];
    backend.executions[0]?.fail({ kind: "job", reason: "exit code 2", code: "Exit2", detail: "line 1" });
    backend.executions[1]?.fail({ kind: "protocol", reason: "the machine is gone", code: "lost" });
    await settle();
    for (const stream of streams) await stream.rest();
    for (const taskId of ["job", "call"]) {
      await session.request("tasks/get", about(taskId));
      await session.request("tasks/result", about(taskId));
    }
    await session.request("tasks/list");
  },
};

const duplicate: Scenario<Client20251125> = {
  name: "duplicate-and-delete",
  options: { wires },
  play: async ({ client, backend, settle }) => {
    const session = await connect(client);
    const stream = await begin(session, "c-1");
    await session.request("tools/call", toCall("c-1"));
    backend.of().succeed("done");
    await settle();
    await stream.rest();
    await session.request("tasks/delete", about("c-1"));
    await session.request("tasks/get", about("c-1"));
    await session.request("tasks/delete", about("c-1"));
    await session.request("tools/call", toCall("c-1"));
    await session.request("tasks/list");
  },
};

const cancel: Scenario<Client20251125> = {
  name: "cancel",
  options: { wires },
  play: async ({ client, settle }) => {
    const session = await connect(client);
    const stream = await session.open("tools/call", toCall("c-1"));
    await stream.next();
    // The third request of the conversation, after initialize: 2.
    await session.notify({ method: "notifications/cancelled", params: { requestId: 2, reason: "no longer needed" } });
    await stream.rest();
    await settle();
    await session.request("tasks/get", about("c-1"));
    await session.request("tasks/result", about("c-1"));
    await session.request("tasks/cancel", about("c-1"));
  },
};

const question: Scenario<Client20251125> = {
  name: "question",
  options: { wires },
  play: async ({ client, backend, settle }) => {
    const session = await connect(client);
    const stream = await begin(session, "c-1");
    backend.of().ask({ message: "Delete 14 files?", schema: yes });
    await settle();
    const asked = await stream.next();
    await session.request("tasks/get", about("c-1"));
    await session.notify({ id: asked?.id, result: { action: "accept", content: { ok: true } } });
    await eventually(() => backend.of().answers.length === 1);
    await settle();
    await session.request("tasks/get", about("c-1"));
    backend.of().succeed("deleted");
    await settle();
    await stream.rest();
  },
};

const prepare: Prepare = (input, answers) =>
  answers.sure === undefined ? { questions: { sure: { message: "Sure?" } } } : { input };

const before: Scenario<Client20251125> = {
  name: "question-before-the-task",
  options: { wires, tools: [fakeTool("job", { prepare })] },
  play: async ({ client, backend, settle }) => {
    const session = await connect(client);
    const stream = await session.open("tools/call", toCall("c-1"));
    const asked = await stream.next();
    await session.notify({ id: asked?.id, result: { action: "accept", content: {} } });
    await stream.next();
    backend.of().succeed("done");
    await settle();
    await stream.rest();
    await session.request("tools/call", toCall("c-1"));
  },
};

const ignored: Scenario<Client20251125> = {
  name: "mark-that-is-ignored",
  options: {
    wires,
    tools: [fakeTool("never", { task: { support: "forbidden" } })],
    fake: { scripts: { never: (run) => run.succeed("done") } },
    plainTools: [{ name: "plain", inputSchema: {}, call: async () => ({ content: [{ type: "text", text: "here" }] }) }],
  },
  play: async ({ client }) => {
    const session = await connect(client);
    for (const name of ["never", "plain"]) await session.request("tools/call", toCall("c-1", {}, name));
    await session.request("resources/list", { _meta: toCall("c-1")._meta });
    await session.request("tasks/get", about("c-1"));
  },
};

const refused: Scenario<Client20251125> = {
  name: "bad-input",
  options: { wires, limits: { maxWaitsPerOwner: 1 } },
  play: async ({ client, backend, settle }) => {
    const session = await connect(client);
    for (const taskId of ["", "a b", "../c", "x".repeat(200), 7, null]) {
      await session.request("tools/call", toCall(taskId));
    }
    for (const keepAlive of [-1, "60000", null]) await session.request("tools/call", toCall("c-1", { keepAlive }));
    const stream = await begin(session, "c-1");
    await session.request("tools/call", toCall("c-2"));
    await session.request("tasks/list", { cursor: "nonsense" });
    for (const method of ["tasks/get", "tasks/result", "tasks/delete"]) {
      await session.request(method, about("c-2"));
      await session.request(method, {});
    }
    backend.of().succeed("done");
    await settle();
    await stream.rest();
    const newer = await client.connect();
    await newer.request("tools/call", { ...toCall("c-3"), task: {} });
  },
};

const newer: Scenario<Client20251125> = {
  name: "in-a-session-of-2025-11-25",
  options: { wires },
  play: async ({ client, backend, settle }) => {
    const session = await client.connect();
    const stream = await begin(session, "c-1");
    await session.request("tasks/get", { taskId: "c-1" });
    backend.of().succeed("done");
    await settle();
    await stream.rest();
    await session.request("tasks/result", { taskId: "c-1" });
  },
};

export const scenariosSep1686: readonly Scenario<Client20251125>[] = [
  create,
  progress,
  ends,
  duplicate,
  cancel,
  question,
  before,
  ignored,
  refused,
  newer,
];

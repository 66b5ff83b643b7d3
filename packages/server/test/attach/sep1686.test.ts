import { afterEach, describe, expect, test } from "@jest/globals";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { attachTasks } from "../../src/index.ts";
import { form, isElicitation, reply, yes } from "../rev-2025/task-calls.ts";
import { eventually, inTime, start, stopAll } from "../serve.ts";
import { answerOf, isAnswer, related, sep1686Rpc, wires } from "../tasks-sep1686/sep1686-session.ts";
import { connectLinked, createClient, hangUp, serveSessions } from "./connect-v1.ts";
import { createHostV1 } from "./host-v1.ts";
import { createHostV2 } from "./host-v2.ts";

afterEach(hangUp);
afterEach(stopAll);

const attached = async (owners: "local" | "none" = "local") => {
  const { server, backend } = await start({ wires });
  const makeHost = () => {
    const host = createHostV1();
    attachTasks(host, server, { owners });
    return host;
  };
  const draft = await sep1686Rpc((await serveSessions(makeHost)).href, { capabilities: form });
  return { server, backend, draft };
};

describe("the SEP-1686 draft in an SDK v1 server", () => {
  test("[M-9] [M-12] [M-13] serves a call from its notice to its answer", async () => {
    const { draft, backend } = await attached();
    const stream = await draft.begin("c-1");
    expect((await draft.get("c-1")).result).toMatchObject({ status: "working", _meta: related("c-1") });
    backend.of().ask({ message: "Sure?", schema: yes });
    const asked = await stream.find(isElicitation);
    expect(asked.params).toMatchObject({ _meta: related("c-1") });
    await reply(draft, asked);
    await eventually(() => backend.of().answers.length === 1);
    backend.of().succeed("done");
    expect((await answerOf(stream)).result).toMatchObject({ content: [{ text: '"done"' }], _meta: related("c-1") });
    expect((await draft.request("tasks/list")).result.tasks).toMatchObject([{ taskId: "c-1" }]);
    expect((await draft.request("tasks/delete", { taskId: "c-1" })).result).toEqual({ _meta: related("c-1") });
    expect((await answerOf(await draft.call("c-1"))).error?.message).toContain("Task ID already exists: c-1");
  });

  test("[M-14] cancels by the ID of the call, also after its stream is lost", async () => {
    const { draft, backend } = await attached();
    const stream = await draft.begin("c-1", { id: "one" });
    const lost = await draft.begin("c-2", { id: "two" });
    lost.close();
    await draft.send({ method: "notifications/cancelled", params: { requestId: "one" } });
    await eventually(async () => (await draft.statusOf("c-1")) === "cancelled");
    expect(stream.messages.filter(isAnswer)).toEqual([]);
    // The SDK leaves it open.
    stream.close();
    expect(await draft.statusOf("c-2")).toBe("working");
    await draft.send({ method: "notifications/cancelled", params: { requestId: "two" } });
    await eventually(async () => (await draft.statusOf("c-2")) === "cancelled");
    await eventually(() => backend.callsOf("cancel").length === 2);
  });

  test("tells a call that waits when the task server is stopped", async () => {
    const { draft, server, backend } = await attached();
    const stream = await draft.begin("c-1");
    await inTime(server.close());
    expect((await answerOf(stream)).error?.message).toContain("The task server was stopped");
    expect(backend.of().cancels).toEqual([]);
  });

  test("[M-1] refuses callers who have no owner", async () => {
    const { draft, backend } = await attached("none");
    expect((await answerOf(await draft.call("c-1"))).error?.code).toBe(-32_602);
    expect(backend.starts()).toBe(0);
  });
});

test("[M-9] [M-12] the SEP-1686 draft in an SDK v2 server", async () => {
  const { server, backend } = await start({ wires });
  const host = createHostV2();
  attachTasks(host, server, { owners: "local" });
  const client = createClient({ elicitation: {} });
  const created: unknown[] = [];
  client.fallbackNotificationHandler = async ({ method, params }) => void created.push([method, params?._meta]);
  await connectLinked(host, client);
  const _meta = { "modelcontextprotocol.io/task": { taskId: "c-1" } };
  const call = client.request({ method: "tools/call", params: { name: "job", _meta } }, CallToolResultSchema);
  await eventually(() => created.length === 1);
  expect(created).toEqual([["notifications/tasks/created", related("c-1")]]);
  const send = (method: string) => client.request({ method, params: { taskId: "c-1" } } as never, z.looseObject({}));
  expect(await send("tasks/get")).toMatchObject({ status: "working", _meta: related("c-1") });
  backend.of().succeed("done");
  expect(await inTime(call)).toMatchObject({ content: [{ text: '"done"' }] });
  expect(await send("tasks/delete")).toMatchObject({ _meta: related("c-1") });
});

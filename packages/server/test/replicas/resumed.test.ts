import { afterEach, describe, expect, test } from "@jest/globals";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { callForTask, form, isElicitation, reply, yes } from "../rev-2025/task-calls.ts";
import { type MessageStream, rpc2025 } from "../rpc-2025.ts";
import type { Message } from "../rpc-client.ts";
import { eventually, inTime } from "../serve.ts";
import { startFleet, stopFleet } from "./fleet.ts";

afterEach(stopFleet);

const isAnswer = ({ result, error }: Message): boolean => result !== undefined || error !== undefined;

/** Two replicas, one session at both, and a wait for a result at the first. */
const open = async (revision = "2025-11-25") => {
  const fleet = await startFleet(2);
  const [a, b] = fleet.replicas as [(typeof fleet.replicas)[0], (typeof fleet.replicas)[0]];
  const atA = await rpc2025(a.url, { capabilities: form, revision });
  const taskId = await callForTask(await rpc2025(a.url));
  const wait = await atA.open("tasks/result", { taskId }, { id: "wait" });
  return { ...fleet, a, b, atA, atB: atA.at(b.url), taskId, wait };
};
const firstId = async (stream: MessageStream): Promise<string> => {
  await eventually(() => stream.eventIds.length > 0);
  return stream.eventIds[0] as string;
};

describe("[H-14] a tasks/result whose stream is lost", () => {
  test("goes on at another replica, with its question and its answer", async () => {
    const { stop, a, atB, backend, wait } = await open();
    const id = await firstId(wait);
    await inTime(stop(a));
    await inTime(wait.ended);
    expect(wait.messages).toEqual([]);
    const resumed = await atB.listen(id);
    backend.of().ask({ message: "Sure?", schema: yes });
    await reply(atB, await resumed.find(isElicitation));
    await eventually(() => backend.of().answers.length === 1);
    backend.of().succeed({ files: 14 });
    expect(await resumed.find(isAnswer)).toMatchObject({ id: "wait", result: { isError: false } });
    await inTime(resumed.ended);
  });

  test("goes on where it was lost, also when nobody has noticed that", async () => {
    const { atA, backend, wait } = await open();
    const resumed = await atA.listen(await firstId(wait));
    await inTime(wait.ended);
    const again = await atA.listen(await firstId(resumed));
    await inTime(resumed.ended);
    backend.of().succeed({ files: 14 });
    expect(await again.find(isAnswer)).toMatchObject({ id: "wait", result: { isError: false } });
    await inTime(again.ended);
    expect([wait, resumed, again].flatMap(({ messages }) => messages.filter(isAnswer))).toHaveLength(1);
  });

  test("is answered once more when the answer was lost with it", async () => {
    const { atB, backend, wait } = await open();
    backend.of().succeed({ files: 14 });
    await wait.find(isAnswer);
    const resumed = await atB.listen(await firstId(wait));
    expect(await resumed.find(isAnswer)).toMatchObject({ id: "wait", result: { isError: false } });
  });

  test("has nothing to go on with after an error, as clients could not tell", async () => {
    const { atA, atB, taskId, wait } = await open();
    await atA.request("tasks/cancel", { taskId });
    expect(await wait.find(isAnswer)).toMatchObject({ id: "wait", error: { code: -32_603 } });
    await inTime(wait.ended);
    expect(wait.eventIds).toHaveLength(2);
    expect((await atB.listen(wait.eventIds[1])).status).toBe(405);
    // Whoever has lost the error gets it.
    const resumed = await atB.listen(wait.eventIds[0]);
    expect(await resumed.find(isAnswer)).toMatchObject({ error: { code: -32_603 } });
    expect((await atB.listen(resumed.eventIds[1])).status).toBe(405);
  });

  test("has nothing to go on with once it was taken back", async () => {
    const { atA, atB, wait } = await open();
    await firstId(wait);
    await atA.send({ method: "notifications/cancelled", params: { requestId: "wait" } });
    await inTime(wait.ended);
    expect([wait.messages, wait.eventIds.length]).toEqual([[], 2]);
    for (const rpc of [atA, atB]) expect((await rpc.listen(wait.eventIds[1])).status).toBe(405);
  });

  test("is another session's for nobody, and a made-up ID opens the session's own stream", async () => {
    const { b, wait, backend, atA, taskId } = await open();
    const id = await firstId(wait);
    const stranger = await rpc2025(b.url, { capabilities: form });
    for (const [rpc, eventId] of [
      [stranger, id],
      [atA, `${id.slice(0, -1)}_`],
      [atA, "1"],
    ] as const) {
      const own = await rpc.listen(eventId);
      expect([own.status, own.eventIds]).toEqual([200, []]);
      own.close();
    }
    expect((await stranger.request("tasks/get", { taskId })).result.status).toBe("working");
    backend.of().succeed(1);
    expect(await wait.find(isAnswer)).toMatchObject({ result: { isError: false } });
  });

  test("cannot go on for clients of earlier revisions, which take no event without data", async () => {
    const fleet = await startFleet(1, { wires: ["2025-11-25", "sep-1686"] });
    const rpc = await rpc2025(fleet.replicas[0]?.url ?? "", { revision: "2025-06-18" });
    const stream = await rpc.open("tasks/result", { taskId: "nope" });
    await inTime(stream.ended);
    expect(stream.eventIds).toEqual([]);
  });
});

test("the first SDK's client gets the result that it waits for when the replica stops at which it waits", async () => {
  const fleet = await startFleet(3);
  const client = new FirstClient({ name: "host", version: "1" }, { capabilities: form });
  await client.connect(new FirstHttpTransport(new URL("http://127.0.0.1:1/mcp"), { fetch: fleet.fetch }) as never);
  const { replicas, backend } = fleet;
  await client.listTools();
  const taskId = await callForTask(await rpc2025(replicas[0]?.url ?? ""));
  const before = [...fleet.served];
  const result = client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
  await eventually(() => fleet.served.some((count, index) => count > (before[index] ?? 0)));
  const at = fleet.served.findIndex((count, index) => count > (before[index] ?? 0));
  await inTime(fleet.stop(replicas[at] as (typeof replicas)[0]));
  backend.of().succeed({ files: 14 });
  expect(await inTime(result)).toMatchObject({ isError: false, content: [{ text: '{"files":14}' }] });
  await client.close();
});

import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { readCapabilities } from "@taskbridge/protocol/tasks-2025-11-25";
import { fakeClock } from "@taskbridge/testkit";
import type { Authenticator } from "../../src/index.ts";
import { mintSessionId } from "../../src/rev-2025/session-id.ts";
import { createSealer } from "../../src/sealer.ts";
import { openStateKeys } from "../../src/state-keys.ts";
import { accept, openSession, ping, send, statusOf } from "../rev-2025/session-calls.ts";
import { callForTask, form, isElicitation, yes } from "../rev-2025/task-calls.ts";
import { rpc2025 } from "../rpc-2025.ts";
import { inTime, serve, stopAll } from "../serve.ts";
import { type FleetOptions, startFleet, stopFleet } from "./fleet.ts";

afterEach(stopFleet);

/** A token is its caller's name. */
const auth: Authenticator = {
  authenticate: async ({ authorization = "" }) => ({
    identity: { issuer: "test", subject: authorization.slice("Bearer ".length) },
  }),
};
const bearer = (name: string) => ({ authorization: `Bearer ${name}` });

/** Two replicas, and a session that has begun at the first. */
const open = async (options: FleetOptions = {}, capabilities: Record<string, unknown> = {}) => {
  const fleet = await startFleet(2, options);
  const [a, b] = fleet.replicas as [(typeof fleet.replicas)[0], (typeof fleet.replicas)[0]];
  const atA = await rpc2025(a.url, { capabilities });
  return { ...fleet, a, b, atA, atB: atA.at(b.url) };
};

describe("[H-12] a session of a 2025 revision", () => {
  test("goes on at a replica that has not heard its initialize, with all that was declared there", async () => {
    const { atA, atB, b, backend } = await open({}, form);
    const taskId = await callForTask(atB);
    expect((await atA.request("tasks/get", { taskId })).result.status).toBe("working");
    expect((await atB.request("tools/list")).result.tools).toEqual((await atA.request("tools/list")).result.tools);
    expect((await atB.request("tasks/list")).result.tasks).toMatchObject([{ taskId }]);
    const wait = await atB.open("tasks/result", { taskId });
    backend.of().ask({ message: "Sure?", schema: yes });
    await wait.find(isElicitation);
    expect((await atA.request("tasks/cancel", { taskId })).result.status).toBe("cancelled");
    expect(await wait.find(({ error }) => error !== undefined)).toMatchObject({ error: { code: -32_603 } });
    expect(b.revived()).toBe(1);
  });

  test.each([
    ["2025-11-25", { name: "job", arguments: {}, task: {} }, "task"],
    // Without tasks, what asks for one is an ordinary call.
    ["2025-06-18", { name: "job", arguments: {}, task: {} }, "structuredContent"],
  ])("keeps its revision, %s", async (revision, params, member) => {
    const { a, b } = await open();
    const session = await rpc2025(a.url, { revision });
    expect((await session.at(b.url).request("tools/call", params)).result).toHaveProperty(member);
  });

  test("goes on with each of many requests that come in the same instant", async () => {
    const { atB, b } = await open();
    const answers = await Promise.all(Array.from({ length: 20 }, () => atB.request("ping")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(b.revived()).toBe(1);
  });

  test("goes on when the replica that it began at has stopped", async () => {
    const { a, atA, atB, backend } = await open();
    const taskId = await callForTask(atA);
    await inTime(a.server.close());
    backend.of().succeed({ files: 14 });
    const { result } = await atB.request("tasks/result", { taskId });
    expect(result.structuredContent ?? result.content).toBeDefined();
    expect((await atB.request("tasks/get", { taskId })).result.status).toBe("completed");
  });

  test("of somebody else is 404 at every replica", async () => {
    const { a, b } = await open({ auth });
    const id = await openSession(a.url, bearer("alice"));
    for (const { url } of [a, b]) {
      for (const method of ["POST", "GET", "DELETE"] as const) {
        const headers = { "mcp-session-id": id, ...bearer("bob") };
        const body = method === "POST" ? { body: ping } : {};
        expect(await send(url, { method, headers, ...body })).toMatchObject({
          status: 404,
          error: { code: -32_001, message: "Session not found" },
        });
      }
    }
    expect([await statusOf(a.url, id, bearer("alice")), await statusOf(b.url, id, bearer("alice"))]).toEqual([
      200, 200,
    ]);
    expect([a.revived(), b.revived()]).toEqual([0, 1]);
  });

  test("cannot be forged", async () => {
    const { a, b, atA } = await open();
    const id = atA.sessionId;
    const last = id.at(-1) === "A" ? "B" : "A";
    const forged = [
      id.slice(0, -1),
      `${id}A`,
      `${id.slice(0, -1)}${last}`,
      `${id.slice(0, 20)}${id[20] === "A" ? "B" : "A"}${id.slice(21)}`,
      ` ${id.slice(1)}`,
      `${id}==`,
      id.slice(0, 10),
      "A".repeat(id.length),
      "A".repeat(8_000),
    ];
    for (const { url } of [a, b]) for (const one of forged) expect([one, await statusOf(url, one)]).toEqual([one, 404]);
    expect(await statusOf(b.url, id)).toBe(200);
  });

  test("of servers that share neither a store nor a key is unknown elsewhere; one key for both is enough", async () => {
    const [one, two] = [await serve(), await serve()];
    const apart = await rpc2025(one.url);
    expect(await statusOf(two.url, apart.sessionId)).toBe(404);
    const stateKey = "k".repeat(32);
    const [three, four] = [await serve({ stateKey }), await serve({ stateKey })];
    const together = await rpc2025(three.url);
    expect(await statusOf(four.url, together.sessionId)).toBe(200);
    const other = await serve({ stateKey: "l".repeat(32) });
    expect(await statusOf(other.url, together.sessionId)).toBe(404);
    await stopAll();
  });

  test("that the SDK does not go on with is an error each time, and takes no place", async () => {
    const stateKey = "k".repeat(32);
    const { server } = await serve({ stateKey, limits: { maxSessions: 1 } });
    const { sessions } = await openStateKeys(memoryStore(), stateKey);
    const introduction = { revision: 7 as unknown as string, capabilities: readCapabilities({}) };
    const id = mintSessionId(createSealer(sessions), null, introduction);
    const ask = (): Promise<Response> => {
      const headers = { "content-type": "application/json", accept, "mcp-session-id": id };
      return server.fetch(new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify(ping) }));
    };
    for (let count = 0; count < 3; count++) await expect(ask()).rejects.toThrow("cannot go on");
    const { url } = await server.listen({ port: 0 });
    expect(await openSession(url)).not.toBe("");
  });

  test("has an ID that HTTP takes, however much was declared", async () => {
    const { url } = await serve();
    const capabilities = {
      elicitation: { form: {}, url: {} },
      sampling: { tools: {}, context: {} },
      tasks: { list: {}, cancel: {}, requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } },
      experimental: { padding: { text: "x".repeat(50_000) } },
    };
    const { sessionId } = await rpc2025(url, { capabilities });
    expect(sessionId).toMatch(/^[\x21-\x7e]{32,400}$/);
    expect(await statusOf(url, sessionId)).toBe(200);
  });

  test("that its client has deleted is gone where that was heard, and elsewhere opens nothing that its owner could not", async () => {
    const { atA, atB, a, b } = await open();
    const taskId = await callForTask(atA);
    expect(await atB.end()).toBe(200);
    expect(await statusOf(b.url, atA.sessionId)).toBe(404);
    expect(await statusOf(a.url, atA.sessionId)).toBe(200);
    expect((await atA.request("tasks/get", { taskId })).result.status).toBe("working");
  });
});

describe("the key of sessions", () => {
  test("is made once for all replicas that share a store", async () => {
    const store = memoryStore();
    const servers = await Promise.all(Array.from({ length: 5 }, () => serve({ store })));
    const { sessionId } = await rpc2025(servers[0]?.url ?? "");
    for (const { url } of servers) expect(await statusOf(url, sessionId)).toBe(200);
  });

  test("outlives all of them", async () => {
    const clock = fakeClock();
    const store = { ...memoryStore({ clock }), close: async () => {} };
    const first = await serve({ store });
    const { sessionId } = await rpc2025(first.url);
    await inTime(first.server.close());
    const second = await serve({ store });
    expect(await statusOf(second.url, sessionId)).toBe(200);
  });

  test("keeps a server from starting when the store cannot tell it, or tells nonsense", async () => {
    const down = Object.assign(new Error("down"), { code: "unavailable" });
    const fails = { ...memoryStore(), values: { ...memoryStore().values, read: () => Promise.reject(down) } };
    await expect(serve({ store: fails })).rejects.toBe(down);
    const store = memoryStore();
    await store.values.write("server:state-key", "short", undefined);
    await expect(serve({ store })).rejects.toMatchObject({ code: "misconfigured", data: { path: "stateKey" } });
    await expect(serve({ stateKey: "short" })).rejects.toMatchObject({ data: { path: "stateKey" } });
  });
});

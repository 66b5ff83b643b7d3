import { afterEach, describe, expect, test } from "@jest/globals";
import { fakeClock } from "@taskbridge/testkit";
import type { Authenticator } from "../../src/index.ts";
import { countRevived } from "../count-revived.ts";
import { type Rpc2025, rpc2025 } from "../rpc-2025.ts";
import type { Answer } from "../rpc-client.ts";
import { eventually, inTime, serve, start, stopAll } from "../serve.ts";
import { accept, initialize, openSession, send, statusOf } from "./session-calls.ts";
import { callForTask } from "./task-calls.ts";

afterEach(stopAll);

/** A token is its caller's name. */
const auth: Authenticator = {
  authenticate: async ({ authorization = "" }) => ({
    identity: { issuer: "test", subject: authorization.slice("Bearer ".length) },
  }),
};
const bearer = (name: string) => ({ authorization: `Bearer ${name}` });

describe("[H-9] an idle session", () => {
  const setUp = async () => {
    const clock = fakeClock();
    const { log, revived } = countRevived();
    const served = await serve({ clock, log, limits: { sessionIdleMs: 60_000 } });
    return { ...served, clock, revived };
  };

  test("makes room when its time is over, which each use counts anew, and goes on when its client comes back", async () => {
    const { url, clock, backend, revived } = await setUp();
    const [used, left] = [await rpc2025(url), await rpc2025(url)];
    const taskId = await callForTask(left);
    await clock.advance(45_000);
    expect(await statusOf(url, used.sessionId)).toBe(200);
    await clock.advance(45_000);
    expect(await statusOf(url, used.sessionId)).toBe(200);
    expect(revived()).toBe(0);
    expect(await statusOf(url, left.sessionId)).toBe(200);
    expect(revived()).toBe(1);
    await clock.advance(76_000);
    expect(await statusOf(url, used.sessionId)).toBe(200);
    expect((await left.request("tasks/get", { taskId })).result.status).toBe("working");
    expect(revived()).toBe(3);
    expect(backend.callsOf("cancel")).toEqual([]);
  });

  test("does not end while a stream of it is open: its own, or a wait for a result", async () => {
    const { url, clock, revived } = await setUp();
    const [listening, waiting] = [await rpc2025(url), await rpc2025(url)];
    const taskId = await callForTask(waiting);
    const own = await listening.listen();
    const wait = await waiting.open("tasks/result", { taskId });
    await clock.advance(600_000);
    for (const { sessionId } of [listening, waiting]) expect(await statusOf(url, sessionId)).toBe(200);
    expect(revived()).toBe(0);
    own.close();
    wait.close();
    await inTime(Promise.all([own.ended, wait.ended]));
    await eventually(async () => {
      await clock.advance(20_000);
      await clock.advance(61_000);
      for (const { sessionId } of [listening, waiting]) expect(await statusOf(url, sessionId)).toBe(200);
      return revived() >= 2;
    });
  });

  test("leaves no timer behind", async () => {
    const { url, clock } = await setUp();
    const before = clock.scheduled;
    const session = await rpc2025(url);
    await (await session.listen()).close();
    await session.end();
    await eventually(async () => {
      await clock.advance(120_000);
      return clock.scheduled === before;
    });
  });
});

describe("an initialize that declares more than any client has", () => {
  test("is refused before anything walks through it", async () => {
    const { url } = await serve();
    const experimental = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`member ${index}`, {}]));
    const params = { protocolVersion: "2025-11-25", capabilities: { experimental } };
    const { status, error } = await send(url, { body: { ...initialize, params } });
    expect([status, error.code]).toEqual([413, -32_000]);
  });
});

describe("[H-10] more sessions than a server keeps", () => {
  test("have the one make room that was unused for longest, until it is used again", async () => {
    const { log, revived } = countRevived();
    const { url } = await serve({ log, limits: { maxSessions: 2 } });
    const [one, two] = [await openSession(url), await openSession(url)];
    expect(await statusOf(url, one)).toBe(200);
    const three = await openSession(url);
    expect([await statusOf(url, one), await statusOf(url, three), revived()]).toEqual([200, 200, 0]);
    expect([await statusOf(url, two), revived()]).toEqual([200, 1]);
    expect([await statusOf(url, three), revived()]).toEqual([200, 1]);
    expect([await statusOf(url, one), revived()]).toEqual([200, 2]);
  });

  test("are refused when all are in use, until one is free again", async () => {
    const { url } = await serve({ limits: { maxSessions: 2 } });
    const [one, two] = [await rpc2025(url), await rpc2025(url)];
    const taskId = await callForTask(two);
    const own = await one.listen();
    const wait = await two.open("tasks/result", { taskId });
    const refused = await send(url, { body: initialize });
    expect([refused.status, refused.error.message]).toEqual([503, expect.stringContaining("limits.maxSessions (2)")]);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("mcp-session-id")).toBeNull();
    for (const { sessionId } of [one, two]) expect(await statusOf(url, sessionId)).toBe(200);
    own.close();
    await inTime(own.ended);
    await eventually(async () => (await openSession(url)) !== "");
    expect(await statusOf(url, two.sessionId)).toBe(200);
    wait.close();
  });

  test("of one caller take no place from others", async () => {
    const { log, revived } = countRevived();
    const { url } = await serve({ auth, log, limits: { maxSessions: 10, maxSessionsPerOwner: 2 } });
    const bob = await openSession(url, bearer("bob"));
    const alice: string[] = [];
    for (let index = 0; index < 5; index++) alice.push(await openSession(url, bearer("alice")));
    expect(await statusOf(url, bob, bearer("bob"))).toBe(200);
    for (const id of alice) expect(await statusOf(url, id, bearer("alice"))).toBe(200);
    // Her first three had made room for the last two, and have taken that again.
    expect(revived()).toBe(5);
    const streams = [];
    for (const id of alice.slice(3)) {
      const headers = { accept: "text/event-stream", "mcp-session-id": id, ...bearer("alice") };
      streams.push(await fetch(url, { headers }));
    }
    // One that is to be revived takes a place as any other.
    expect(await statusOf(url, alice[0] ?? "", bearer("alice"))).toBe(503);
    const refused = await send(url, { body: initialize, headers: bearer("alice") });
    expect([refused.status, refused.error.message]).toEqual([503, expect.stringContaining("maxSessionsPerOwner (2)")]);
    expect(await openSession(url, bearer("carol"))).not.toBe("");
    await Promise.all(streams.map(({ body }) => body?.cancel()));
    // What was refused for want of room is served when there is some.
    await eventually(async () => (await statusOf(url, alice[0] ?? "", bearer("alice"))) === 200);
  });

  test("are no more when many come in the same instant", async () => {
    const { server } = await start({ limits: { maxSessions: 8, maxSessionsPerOwner: 4 } });
    const ask = (subject: string, request: RequestInit) =>
      server.fetch(new Request("http://localhost/mcp", request), {
        authInfo: { token: "t", clientId: subject, scopes: [] },
      });
    const body = JSON.stringify(initialize);
    const headers = { "content-type": "application/json", accept };
    const opened = await Promise.all(
      ["alice", "bob", "carol"].flatMap((subject) =>
        Array.from({ length: 20 }, async () => {
          const response = await ask(subject, { method: "POST", headers, body });
          return { subject, id: response.headers.get("mcp-session-id"), status: response.status };
        }),
      ),
    );
    expect([...new Set(opened.map(({ status }) => status))].filter((status) => status !== 503)).toEqual([200]);
    const alive: string[] = [];
    const streams: Response[] = [];
    for (const { subject, id } of opened) {
      if (id === null) continue;
      // In use, it makes no room for another.
      const stream = await ask(subject, { headers: { accept: "text/event-stream", "mcp-session-id": id } });
      if (stream.status === 200) alive.push(subject);
      streams.push(stream);
    }
    expect(alive.length).toBeGreaterThan(0);
    expect(alive.length).toBeLessThanOrEqual(8);
    for (const owner of ["alice", "bob", "carol"]) {
      expect(alive.filter((subject) => subject === owner).length).toBeLessThanOrEqual(4);
    }
    await Promise.all(streams.map((stream) => stream.body?.cancel()));
  });
});

test("an owner has so many results waited for at once, over all its sessions", async () => {
  const { url, backend } = await serve({ limits: { maxWaitsPerOwner: 2 } });
  const sessions = await Promise.all([rpc2025(url), rpc2025(url)]);
  const [session, other] = sessions as [Rpc2025, Rpc2025];
  const taskId = await callForTask(session);
  const waits = [
    await session.open("tasks/result", { taskId }, { id: "first" }),
    await other.open("tasks/result", { taskId }),
  ];
  const refused = (): Promise<Answer> => session.request("tasks/result", { taskId });
  await eventually(async () => (await refused()).error.code === 429);
  expect((await refused()).error.message).toContain("limits.maxWaitsPerOwner (2)");
  expect((await session.request("tasks/get", { taskId })).result.status).toBe("working");
  await session.send({ method: "notifications/cancelled", params: { requestId: "first" } });
  await waits[0]?.ended;
  const third = await session.open("tasks/result", { taskId });
  backend.of().succeed({ files: 14 });
  for (const wait of [waits[1], third]) await wait?.find(({ result }) => result !== undefined);
  expect((await refused()).result).toMatchObject({ isError: false });
});

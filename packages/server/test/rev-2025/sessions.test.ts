import { afterEach, describe, expect, test } from "@jest/globals";
import { fakeClock } from "@taskbridge/testkit";
import type { Authenticator } from "../../src/index.ts";
import { listen } from "../listen-client.ts";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { initialize, openSession, ping, type SentRequest, send, statusOf } from "./session-calls.ts";
import { callForTask, form, isElicitation, yes } from "./task-calls.ts";

afterEach(stopAll);

/** A token is its caller's name. */
const auth: Authenticator = {
  authenticate: async ({ authorization = "" }) => {
    const [, subject] = authorization.split(" ");
    return subject === undefined ? { refused: { description: "who?" } } : { identity: { issuer: "test", subject } };
  },
};
const bearer = (name: string) => ({ authorization: `Bearer ${name}` });
const methods = ["POST", "GET", "DELETE"] as const;
const notFound = { status: 404, error: { code: -32_001, message: "Session not found" } };

describe("[H-7] a session", () => {
  test("gets an ID that nobody can guess, and its own answers as plain JSON", async () => {
    const { url } = await serve();
    const answer = await send(url, { body: initialize });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
    const ids = await Promise.all(Array.from({ length: 20 }, () => openSession(url)));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{32,}$/);
  });

  test("that is unknown is 404 whatever is asked, and one that is missing is 400 by the name of the header", async () => {
    const { url } = await serve();
    for (const id of ["nope", "__proto__", "x".repeat(1_000), "6c0c5a4e-94d5-4bd5-8d4c-4a6f3d5a3a5e"]) {
      for (const method of methods) {
        const body = method === "POST" ? { body: ping } : {};
        expect(await send(url, { method, headers: { "mcp-session-id": id }, ...body })).toMatchObject(notFound);
      }
    }
    for (const request of [
      { body: ping },
      { method: "GET" },
      { method: "DELETE" },
      { body: [ping] },
    ] as SentRequest[]) {
      const { status, error } = await send(url, request);
      expect([status, error.message]).toEqual([400, expect.stringContaining("Mcp-Session-Id")]);
    }
  });

  test("of somebody else is 404 as well, and stays untouched", async () => {
    const { url } = await serve({ auth });
    const id = await openSession(url, bearer("alice"));
    const headers = { "mcp-session-id": id };
    for (const method of methods) {
      const body = method === "POST" ? { body: ping } : {};
      const foreign = await send(url, { method, headers: { ...headers, ...bearer("bob") }, ...body });
      expect(foreign).toMatchObject(notFound);
      expect((await send(url, { method, headers, ...body })).status).toBe(401);
    }
    expect(await statusOf(url, id, bearer("alice"))).toBe(200);
  });

  test("that is deleted is gone, with its streams, while its tasks stay", async () => {
    const { url, backend } = await serve();
    const session = await rpc2025(url);
    const taskId = await callForTask(session);
    const own = await session.listen();
    const wait = await session.open("tasks/result", { taskId });
    expect(await session.end()).toBe(200);
    await inTime(Promise.all([own.ended, wait.ended]));
    expect([...own.messages, ...wait.messages].filter(({ method }) => method === undefined)).toEqual([]);
    for (const method of methods) {
      const headers = { "mcp-session-id": session.sessionId };
      const body = method === "POST" ? { body: ping } : {};
      expect(await send(url, { method, headers, ...body })).toMatchObject(notFound);
    }
    const next = await rpc2025(url);
    expect((await next.request("tasks/get", { taskId })).result.status).toBe("working");
    expect(backend.callsOf("cancel")).toEqual([]);
  });

  test("speaks the newest revision that knows sessions when its client asks for one that does not exist", async () => {
    const { url } = await serve();
    for (const revision of ["1999-01-01", "2099-01-01", "nonsense"]) {
      const session = await rpc2025(url, { revision, headers: { "mcp-protocol-version": "2025-11-25" } });
      const { initialized } = session;
      expect(initialized).toMatchObject({ protocolVersion: "2025-11-25", capabilities: { tasks: { cancel: {} } } });
      await callForTask(session);
    }
  });

  test("whose server stops while a call waits gets its answer: how to find the task", async () => {
    const { url, server, backend } = await serve({ waitMs: 30_000 });
    const session = await rpc2025(url);
    const call = session.request("tools/call", { name: "job", arguments: {} });
    await eventually(() => backend.starts() === 1);
    await inTime(server.close());
    const { result } = await call;
    expect(result).toMatchObject({ isError: false, structuredContent: { taskId: expect.any(String) } });
    expect(backend.callsOf("cancel")).toEqual([]);
  });

  test("is not initialized twice", async () => {
    const { url } = await serve();
    const id = await openSession(url);
    const again = await send(url, { body: initialize, headers: { "mcp-session-id": id } });
    expect([again.status, again.error.code]).toEqual([400, -32_600]);
    expect(await statusOf(url, id)).toBe(200);
  });

  test.each([
    ["that is no such request", { protocolVersion: "2024-11-05", capabilities: {} }],
    [
      "of an earlier revision",
      { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "x", version: "1" } },
    ],
    ["without anything", {}],
  ])("goes on as it was after another initialize %s", async (_what, params) => {
    const { url, backend } = await serve();
    const session = await rpc2025(url, { capabilities: form });
    const stream = await session.listen();
    const taskId = await callForTask(session);
    expect((await session.request("initialize", params)).error.code).toBeLessThan(0);
    expect((await session.request("tasks/get", { taskId })).result).toMatchObject({ taskId });
    backend.of().ask({ message: "Sure?", schema: yes });
    await stream.find(isElicitation);
  });
});

describe("[H-8] a session's own stream", () => {
  test("sends its headers at once, and ends when its client comes back for another", async () => {
    const { url } = await serve();
    const session = await rpc2025(url);
    const first = await inTime(session.listen());
    expect([first.status, first.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const second = await session.listen();
    expect(second.status).toBe(200);
    await inTime(first.ended);
    // What is sent now arrives there.
    const taskId = await callForTask(session);
    await session.request("tasks/cancel", { taskId });
    await second.find(({ method }) => method === "notifications/tasks/status");
    expect(first.messages).toEqual([]);
  });

  test("goes on when another is asked for in a way that is refused", async () => {
    const { url } = await serve();
    const session = await rpc2025(url);
    const stream = await session.listen();
    const headers = { "mcp-session-id": session.sessionId };
    expect((await send(url, { method: "GET", headers: { ...headers, accept: "text/html" } })).status).toBe(406);
    expect((await send(url, { method: "GET", headers: { ...headers, "mcp-protocol-version": "1" } })).status).toBe(400);
    const taskId = await callForTask(session);
    await session.request("tasks/cancel", { taskId });
    await stream.find(({ method }) => method === "notifications/tasks/status");
  });

  test("is free again as soon as its client has left", async () => {
    const { url } = await serve();
    const session = await rpc2025(url);
    const first = await session.listen();
    first.close();
    await inTime(first.ended);
    const second = await session.listen();
    expect(second.status).toBe(200);
    const taskId = await callForTask(session);
    await session.request("tasks/cancel", { taskId });
    await second.find(({ method }) => method === "notifications/tasks/status");
  });

  test("ends when its caller must be verified anew, and the session goes on with a fresh token", async () => {
    const clock = fakeClock();
    let expiresAt = clock.now() + 10_000;
    const expiring: Authenticator = {
      authenticate: async () => ({ identity: { issuer: "i", subject: "s", expiresAt } }),
    };
    const { url } = await serve({ auth: expiring, clock });
    const session = await rpc2025(url);
    const stream = await session.listen();
    let isOver = false;
    void stream.ended.then(() => {
      isOver = true;
    });
    await clock.advance(9_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await inTime(stream.ended);
    expiresAt = clock.now() + 10_000;
    expect((await session.listen()).status).toBe(200);
  });

  test("needs a client that takes events", async () => {
    const { url } = await serve();
    const headers = { "mcp-session-id": await openSession(url), accept: "application/json" };
    expect((await send(url, { method: "GET", headers })).status).toBe(406);
  });
});

describe("[H-3] what is no request of a session", () => {
  test.each<[string, SentRequest, number, number]>([
    ["no JSON", { body: "{" }, 400, -32_700],
    ["no JSON-RPC", { body: { hello: 1 } }, 400, -32_600],
    ["ID null", { body: { jsonrpc: "2.0", id: null, method: "ping" } }, 400, -32_600],
    ["text", { body: '"ping"' }, 400, -32_600],
    ["another content type", { body: ping, headers: { "content-type": "text/plain" } }, 415, -32_000],
    ["a client that takes no events", { body: ping, headers: { accept: "application/json" } }, 406, -32_000],
    ["a revision that nobody knows", { body: ping, headers: { "mcp-protocol-version": "1999-01-01" } }, 400, -32_000],
    ["a body that is too large", { body: { ...ping, pad: "x".repeat(5_000) } }, 413, -32_000],
    ["another HTTP method", { method: "PUT", body: ping }, 405, -32_000],
    ["a batch that is too long", { body: Array.from({ length: 101 }, () => ping) }, 413, -32_000],
  ])("%s", async (_name, request, status, code) => {
    const { url } = await serve({ limits: { maxBodyBytes: 4_096 } });
    const id = await openSession(url);
    const answer = await send(url, { ...request, headers: { "mcp-session-id": id, ...request.headers } });
    expect([answer.status, answer.error.code]).toEqual([status, code]);
    expect(await statusOf(url, id)).toBe(200);
  });

  test("[H-1] a page of a foreign site is refused before sessions are looked at", async () => {
    const { url } = await serve();
    const id = await openSession(url);
    for (const sessionId of [id, "nope"]) {
      const headers = { "mcp-session-id": sessionId, origin: "https://evil.example.com" };
      expect((await send(url, { body: ping, headers })).status).toBe(403);
      expect((await send(url, { method: "DELETE", headers })).status).toBe(403);
    }
    expect(await openSession(url, { origin: "https://evil.example.com" })).toBe("");
    expect(await statusOf(url, id)).toBe(200);
  });

  test("notifications and answers nobody waits for are taken without an answer", async () => {
    const { url } = await serve();
    const session = await rpc2025(url);
    expect(await session.send({ method: "notifications/nonsense", params: { a: 1 } })).toBe(202);
    expect(await session.send({ id: 77, result: {} })).toBe(202);
    expect(await session.send({ id: "x", error: { code: 1, message: "no" } })).toBe(202);
    expect((await session.request("foo/bar")).error.code).toBe(-32_601);
  });
});

test("a batch is answered with one message for each of its requests", async () => {
  const { url } = await serve();
  const session = await rpc2025(url);
  const taskId = await callForTask(session);
  const body = [
    { jsonrpc: "2.0", id: "a", method: "tasks/get", params: { taskId } },
    { jsonrpc: "2.0", method: "notifications/nonsense" },
    { jsonrpc: "2.0", id: "b", method: "tasks/get", params: { taskId: "nope" } },
    { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "job", task: {} } },
  ];
  const { status, text } = await send(url, { body, headers: { "mcp-session-id": session.sessionId } });
  const answers = text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
  expect(status).toBe(200);
  expect(answers).toHaveLength(3);
  const answerOf = (id: unknown) => answers.find((answer) => answer.id === id);
  expect(answerOf("a")).toMatchObject({ result: { taskId, status: "working" } });
  expect(answerOf("b")).toMatchObject({ error: { code: -32_602 } });
  expect(answerOf(3)).toMatchObject({ result: { task: { status: "working" } } });
  expect((await send(url, { body: [initialize] })).status).toBe(400);
});

test("both generations are served on one port at the same time, about the same tasks", async () => {
  const { url, rpc, backend } = await serve();
  const session = await rpc2025(url);
  const taskId = await callForTask(session);
  const modern = await listen(url, { taskIds: [taskId] });
  const wait = session.request("tasks/result", { taskId });
  expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ resultType: "complete", status: "working" });
  expect((await session.request("tasks/get", { taskId })).result).not.toHaveProperty("resultType");
  backend.of().succeed(1);
  expect((await wait).result).toMatchObject({ isError: false });
  const last = (await modern.rest()).findLast(({ method }) => method === "notifications/tasks");
  expect(last?.params).toMatchObject({ taskId, status: "completed" });
  expect((await rpc("tasks/get", { taskId })).result).toMatchObject({ status: "completed" });
});

import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import type { TaskStore } from "@taskbridge/core/store";
import type { HttpHandler } from "../../src/http/http-handler.ts";
import { listenHttp } from "../../src/http/listen-http.ts";
import { silentLog } from "../../src/server-log.ts";
import { listen } from "../listen-client.ts";
import { rpc2025 } from "../rpc-2025.ts";
import { callForTask, rpcClient, toRequest, version } from "../rpc-client.ts";
import { eventually, inTime, type Served, type ServeOptions, serve, stopAll } from "../serve.ts";
import { probeOf, type RawAnswer, rawRequest } from "./raw-request.ts";

const agents: Agent[] = [];
afterEach(async () => {
  await stopAll();
  for (const agent of agents.splice(0)) agent.destroy();
});

/** The longest that there is: tests cut it short. */
const drainMs = 600_000;

interface Draining extends Served {
  /** The stop that is under way. */
  readonly stopped: Promise<void>;
}

const drain = (served: Served): Draining => ({ ...served, stopped: served.server.close({ drainMs }) });

const serveAndDrain = async (options?: ServeOptions): Promise<Draining> => drain(await serve(options));

/** A client that keeps its connection for the next request, one at a time. */
const keptConnection = (url: string): ((method: string, params?: Record<string, unknown>) => Promise<RawAnswer>) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  return (method, params) => rawRequest(url, { method: "POST", agent, ...toPost(method, params) });
};

const toPost = (method: string, params: Record<string, unknown> = {}) => ({
  headers: {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof params["taskId"] === "string" ? { "mcp-name": params["taskId"] } : {}),
  },
  body: JSON.stringify(toRequest(method, params)),
});

describe("while it drains, a server", () => {
  test("says that it is not ready, and serves new connections, calls and sessions as before", async () => {
    const { url, rpc, server, backend } = await serveAndDrain();
    const readyz = await rawRequest(probeOf(url, "/readyz"));
    expect([readyz.status, JSON.parse(readyz.body)]).toMatchObject([
      503,
      { ready: false, store: "ok", draining: true },
    ]);
    expect((await rawRequest(probeOf(url, "/healthz"))).status).toBe(200);
    const taskId = await callForTask(rpc);
    backend.of().succeed({ n: 1 });
    await eventually(async () => (await rpc("tasks/get", { taskId })).result["status"] === "completed");
    const session = await rpc2025(url);
    expect((await session.request("tools/list")).result["tools"]).toHaveLength(4);
    expect(await session.end()).toBe(200);
    const mounted = await server.fetch(new Request("http://127.0.0.1/mcp", { method: "DELETE" }));
    expect(mounted.status).not.toBe(503);
  });

  test("closes each connection with its answer", async () => {
    const served = await serve();
    const ask = keptConnection(served.url);
    const first = await ask("tools/list");
    const second = await ask("tools/list");
    expect(second.port).toBe(first.port);
    drain(served);
    const last = await ask("tools/list");
    expect([last.status, last.port, last.headers["connection"]]).toEqual([200, first.port, "close"]);
    const next = await ask("tools/list");
    expect([next.status, next.port === first.port, next.headers["connection"]]).toEqual([200, false, "close"]);
    const poll = await ask("tasks/get", { taskId: "x" });
    expect([poll.status, poll.port === next.port, poll.headers["connection"]]).toEqual([200, false, "close"]);
    expect(poll.headers).toHaveProperty("content-length");
  });

  test("closes the connection of an answer that began before, once that has ended", async () => {
    const served = await serve();
    const { url, rpc, backend } = served;
    const taskId = await callForTask(rpc);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    const { headers, body } = toPost("subscriptions/listen", { notifications: { taskIds: [taskId] } });
    const sent = request(url, { method: "POST", agent, headers });
    sent.end(body);
    const [stream] = (await once(sent, "response")) as [IncomingMessage];
    const { socket } = stream;
    expect(stream.headers.connection).not.toBe("close");
    const closed = once(socket, "close");
    stream.resume();
    drain(served);
    backend.of().succeed({});
    await inTime(closed);
    expect((await rpc("tools/list")).status).toBe(200);
  });

  test("takes no further listener or client", async () => {
    const { server } = await serveAndDrain();
    await expect(server.listen({ port: 0 })).rejects.toMatchObject({ code: "unavailable" });
    await expect(server.serveStdio()).rejects.toMatchObject({ code: "unavailable" });
  });

  test("goes on telling subscribers, until the end", async () => {
    const served = await serve();
    const { url, rpc, backend, server } = served;
    const taskId = await callForTask(rpc);
    const before = await listen(url, { taskIds: [taskId] });
    const { stopped } = drain(served);
    const during = await listen(url, { taskIds: [taskId] });
    for (const subscription of [before, during])
      for (const _frame of ["acknowledged", "state"]) await subscription.next();
    backend.of().progress({ done: 1, total: 2, message: "half" });
    for (const subscription of [before, during]) {
      expect((await subscription.next())?.params).toMatchObject({ statusMessage: expect.stringContaining("half") });
    }
    await server.close();
    for (const subscription of [before, during]) {
      expect(await subscription.rest()).toMatchObject([{ result: { resultType: "complete" } }]);
    }
    await stopped;
  });

  test("lets who waits wait, until the end: nothing is answered, and the client comes back elsewhere", async () => {
    const served = await serve();
    const session = await rpc2025(served.url);
    const created = await session.request("tools/call", { name: "job", task: {} });
    const { taskId } = created.result["task"] as { taskId: string };
    const wait = await session.open("tasks/result", { taskId });
    const own = await session.listen();
    const { stopped, backend, server } = drain(served);
    backend.of().progress({ done: 1, total: 2, message: "half" });
    await wait.find(({ method }) => method === "notifications/tasks/status");
    await server.close();
    await inTime(Promise.all([wait.ended, own.ended]));
    expect(wait.messages.filter(({ id }) => id !== undefined)).toEqual([]);
    await stopped;
  });

  test("answers a call that waits when it is over, with a handle", async () => {
    const served = await serve({ waitMs: 40_000 });
    const { rpc, backend, server } = served;
    const call = rpc("tools/call", { name: "job", arguments: {} }, { tasks: false });
    await eventually(() => backend.starts() === 1);
    const { stopped } = drain(served);
    await server.close();
    expect((await call).result).toMatchObject({ isError: false, structuredContent: { taskId: expect.any(String) } });
    await stopped;
  });
});

test("when its drain is over, a server answers whom the system has let in already", async () => {
  const served = await serve();
  // The first request takes long, which is not what this is about.
  await served.rpc("tools/list");
  const { stopped, server, url } = drain(served);
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: 8 }, () => connect(Number(port), hostname));
  const { headers, body } = toPost("tools/list");
  const lines = Object.entries({ ...headers, host: `${hostname}:${port}`, "content-length": body.length });
  const sent = `POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
  const answers = sockets.map(async (socket) => {
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    socket.write(sent);
    await once(socket, "close");
    return text.slice(0, text.indexOf("\r\n"));
  });
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  await Promise.all([server.close(), stopped]);
  expect(await Promise.all(answers)).toEqual(sockets.map(() => "HTTP/1.1 200 OK"));
});

test("when its drain is over, a server stops by itself", async () => {
  const { server, url } = await serve();
  const startedAt = Date.now();
  await server.close({ drainMs: 300 });
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(295);
  await expect(rpcClient(url)("tools/list")).rejects.toThrow("fetch failed");
});

/** What leads are held of a store that others may share. */
const withLeads = (shared: boolean): { readonly store: TaskStore; readonly held: ReadonlySet<string> } => {
  const stored = memoryStore();
  const held = new Set<string>();
  const lease: TaskStore["lease"] = async (name, ttlMs) => {
    const taken = await stored.lease(name, ttlMs);
    // The others are for one look each, and lapse.
    if (taken === undefined || !/^(sweep|watch):/.test(name)) return taken;
    held.add(name);
    const release = (): Promise<void> => {
      held.delete(name);
      return taken.release();
    };
    return { ...taken, release };
  };
  return { store: { ...stored, shared, lease }, held };
};

describe("what the engine does by itself", () => {
  test("is left to the others who share the store, as soon as the drain begins", async () => {
    const { store, held } = withLeads(true);
    const served = await serve({ store });
    await eventually(() => held.has("sweep:fake"));
    drain(served);
    await eventually(() => held.size === 0);
    // And every verb still acts.
    await callForTask(served.rpc);
    expect(served.backend.starts()).toBe(1);
  });

  test("is done to the end where there are no others", async () => {
    const { store, held } = withLeads(false);
    const served = await serve({ store });
    await eventually(() => held.has("sweep:fake"));
    const { stopped, server } = drain(served);
    await callForTask(served.rpc);
    expect(held).toContain("sweep:fake");
    await server.close();
    await stopped;
    expect(held.size).toBe(0);
  });
});

test.each([-1, 0.5, 600_001, Number.NaN])("drainMs %d is refused, and nothing is stopped", async (bad) => {
  const { server, rpc } = await serve();
  const refused = { code: "misconfigured", data: { path: "drainMs" } };
  await expect(server.close({ drainMs: bad })).rejects.toMatchObject(refused);
  expect((await rpc("tools/list")).status).toBe(200);
});

test("a listener that is told twice to drain is done for both, once the request under way is answered", async () => {
  let answer: (response: Response) => void = () => {};
  const answered = new Promise<Response>((resolve) => {
    answer = resolve;
  });
  let isAsked = false;
  const handler = {
    authenticate: async () => ({}),
    poll: async () => undefined,
    fetch: () => {
      isAsked = true;
      return answered;
    },
  } as unknown as HttpHandler;
  const address = { host: "127.0.0.1", port: 0, path: "/mcp", allowedHosts: [], allowedOrigins: [] };
  const readiness = () => Promise.reject(new Error("nobody asks"));
  const listener = await listenHttp(handler, address, { maxBodyBytes: 1_000, log: silentLog, readiness });
  try {
    const asked = rawRequest(listener.url, { method: "POST", body: "{}" });
    await eventually(() => isAsked);
    const drained = [listener.drain(), listener.drain()];
    answer(new Response("done"));
    expect((await asked).body).toBe("done");
    await inTime(Promise.all(drained));
  } finally {
    await listener.close();
  }
});

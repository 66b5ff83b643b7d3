import { connect } from "node:net";
import { afterEach, describe, expect, it } from "@jest/globals";
import { type FaultProxy, startFaultProxy } from "../src/fault-proxy.ts";
import { findRedis } from "../src/find-redis.ts";
import { type RedisServer, startRedis } from "../src/redis-server.ts";

const engine = await findRedis();
const program = engine.kind === "program" ? engine.path : undefined;
const why = engine.kind === "url" ? "REDIS_URL is set" : engine.kind === "missing" ? engine.reason : "";

/** One command and its answer, as they are on the wire. Undefined when the connection ends without one. */
const say = (port: number, command: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.on("error", () => {});
    socket.on("close", () => resolve(undefined));
    socket.on("data", (chunk) => {
      resolve(chunk.toString());
      socket.destroy();
    });
    socket.write(`${command}\r\n`);
  });

const suite = program === undefined ? describe.skip : describe;
suite(`a Redis of one's own${program === undefined ? ` (SKIPPED: ${why})` : ""}`, () => {
  const servers: RedisServer[] = [];
  const proxies: FaultProxy[] = [];
  const start = async (appendOnly: boolean): Promise<RedisServer> => {
    const server = await startRedis({ program: program ?? "", appendOnly });
    servers.push(server);
    return server;
  };
  const proxyOf = async (server: RedisServer): Promise<FaultProxy> => {
    const proxy = await startFaultProxy(server);
    proxies.push(proxy);
    return proxy;
  };
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close();
    for (const server of servers.splice(0)) await server.stop();
  });

  it("keeps its data over a kill, with append-only files", async () => {
    const server = await start(true);
    await say(server.port, "CONFIG SET appendfsync always");
    await say(server.port, "SET kept yes");
    await server.kill();
    expect(await say(server.port, "PING")).toBeUndefined();
    await server.restart();
    expect(await say(server.port, "GET kept")).toContain("yes");
  });

  it("loses an answer after the server has taken the request", async () => {
    const server = await start(false);
    const proxy = await proxyOf(server);
    proxy.set({ losesAnswer: (request) => request.includes("SET") });
    expect(await say(proxy.port, "SET lost yes")).toBeUndefined();
    expect(proxy.lostAnswers).toBe(1);
    expect(await say(proxy.port, "GET lost")).toContain("yes");
  });

  it("counts a burst of commands as one round trip", async () => {
    const server = await start(false);
    const proxy = await proxyOf(server);
    await say(proxy.port, "PING\r\nPING\r\nPING");
    expect(proxy.roundTrips).toBe(1);
  });

  it("holds back what is said while it is frozen", async () => {
    const server = await start(false);
    const proxy = await proxyOf(server);
    const open = await proxyOf(server);
    proxy.set({ frozen: true });
    const answer = say(proxy.port, "SET late yes");
    // So that what was said would have arrived by now.
    expect(await say(open.port, "SET other yes")).toContain("OK");
    expect(await say(server.port, "GET late")).toContain("$-1");
    proxy.set({});
    expect(await answer).toContain("OK");
    expect(await say(server.port, "GET late")).toContain("yes");
  });
});

if (program === undefined && process.env.TASKBRIDGE_REQUIRE_ENGINES === "1" && engine.kind === "missing") {
  it("has a Redis to test", () => {
    throw new Error(why);
  });
}

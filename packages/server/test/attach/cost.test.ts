import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "@jest/globals";
import { InMemoryTransport as PairV1 } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer as McpServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createMcpHandler, InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { attachTasks, withTaskStreams } from "../../src/index.ts";
import { internalsOf } from "../../src/task-server-internals.ts";
import { start, stopAll } from "../serve.ts";
import { connectLinked, createClient, hangUp } from "./connect-v1.ts";
import { callByFetch, connectFetch } from "./connect-v2.ts";
import { createHostV2 } from "./host-v2.ts";

afterEach(hangUp);
afterEach(stopAll);

/** Over HTTP, where `Request` and `Response` cost most; connecting alone is tried more often. `npm run soak` raises both. */
const requests = Number(process.env.TASKBRIDGE_TEST_REQUESTS ?? 200);
const connections = Number(process.env.TASKBRIDGE_TEST_CONNECTIONS ?? 400);
const anyResult = z.looseObject({});
const text = { content: [{ type: "text" as const, text: "own" }] };

const createHost = (): McpServer => {
  const host = new McpServer({ name: "host", version: "1.0.0" });
  host.registerTool("own", {}, () => text);
  return host;
};

setFlagsFromString("--expose_gc");
const collectGarbage: () => void = runInNewContext("gc");

const collect = async (): Promise<void> => {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await turn();
  }
};

const setUp = async () => {
  const started = await start();
  const { stopping, calls } = internalsOf(started.server, "test").serve;
  const held = () => ({ listeners: getEventListeners(stopping, "abort").length, calls: calls.size });
  return { ...started, held };
};

const alive = (refs: readonly WeakRef<object>[]): number => refs.filter((ref) => ref.deref() !== undefined).length;

describe("a server that is made and attached to for each request", () => {
  test(`${requests} requests leave neither listeners nor servers behind`, async () => {
    const { server, backend, held } = await setUp();
    const refs: WeakRef<object>[] = [];
    const handler = createMcpHandler(() => {
      const host = createHost();
      attachTasks(host, server, { owners: "local" });
      refs.push(new WeakRef(host));
      return host;
    });
    const { fetch } = withTaskStreams(handler, server, { owners: "local" });
    const send = callByFetch(fetch);
    const taskId = (await send("tools/call", { name: "job" }))[0]?.result?.taskId;
    const before = held();
    for (let time = 0; time < requests; time++) {
      const answers = await send("tasks/get", { taskId });
      if (answers[0]?.result?.status !== "working") throw new Error(JSON.stringify(answers));
    }
    expect(held()).toEqual(before);
    expect(refs).toHaveLength(requests + 1);
    await collect();
    expect(alive(refs)).toBeLessThan(100);
    expect(backend.starts()).toBe(1);
  });

  test(`${connections} connections leave neither listeners nor servers behind`, async () => {
    const { server, held } = await setUp();
    const before = held();
    const refs: WeakRef<object>[] = [];
    for (let time = 0; time < connections; time++) {
      const host = createHost();
      attachTasks(host, server);
      refs.push(new WeakRef(host));
      await host.connect(InMemoryTransport.createLinkedPair()[0]);
      await host.close();
    }
    expect(held()).toEqual(before);
    await collect();
    expect(alive(refs)).toBeLessThan(100);
  });

  test("clients that come, call and go leave nothing behind either, in an SDK v1 server", async () => {
    const { server, backend, held } = await setUp();
    const before = held();
    const refs: WeakRef<object>[] = [];
    for (let time = 0; time < 100; time++) {
      const host = new McpServerV1({ name: "host", version: "1.0.0" });
      attachTasks(host, server);
      refs.push(new WeakRef(host));
      const client = createClient();
      await connectLinked(host, client);
      await client.request({ method: "tools/call", params: { name: "job", arguments: {}, task: {} } }, anyResult);
      expect((await client.experimental.tasks.listTasks()).tasks).toHaveLength(Math.min(time + 1, 50));
      await client.close();
      await host.close();
      backend.of().succeed(1);
      await hangUp();
    }
    await backend.events.settled();
    expect(held()).toEqual(before);
    await collect();
    expect(alive(refs)).toBeLessThan(20);
  });

  test("requests of earlier revisions without sessions leave nothing behind either", async () => {
    const { server, held } = await setUp();
    const before = held();
    const refs: WeakRef<object>[] = [];
    const { fetch } = createMcpHandler(() => {
      const host = createHost();
      attachTasks(host, server, { owners: "local" });
      refs.push(new WeakRef(host));
      return host;
    });
    const client = createClient();
    await connectFetch(fetch, client);
    for (let time = 0; time < 200; time++) await client.experimental.tasks.listTasks();
    expect(held()).toEqual(before);
    await collect();
    expect(refs.length).toBeGreaterThan(200);
    expect(alive(refs)).toBeLessThan(20);
  });

  test("wrapping handlers and transports over and over adds no listeners", async () => {
    const { server, held } = await setUp();
    const before = held();
    for (let time = 0; time < 1_000; time++) {
      withTaskStreams(createMcpHandler(createHost), server);
      withTaskStreams(new InMemoryTransport(), server);
    }
    expect(held()).toEqual(before);
  });

  test("attaching costs little next to making a server with some tools", async () => {
    const { server } = await setUp();
    /** Processor time, since others use this machine as well. */
    const measure = (make: () => object, times: number): number => {
      collectGarbage();
      const before = process.cpuUsage();
      for (let time = 0; time < times; time++) make();
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const attached = (make: () => McpServer) => (): object => {
      const host = make();
      attachTasks(host, server);
      return host;
    };
    const ratioFor = (make: () => McpServer, times: number): number => {
      const both = attached(make);
      measure(both, times);
      const rounds = Array.from({ length: 4 }, () => [measure(make, times), measure(both, times)] as const);
      const own = Math.min(...rounds.map(([alone]) => alone));
      return (Math.min(...rounds.map(([, together]) => together)) - own) / own;
    };
    const [bare, usual] = [ratioFor(createHost, 100), ratioFor(() => createHostV2(), 40)];
    process.stdout.write(
      `attaching takes ${bare.toFixed(2)} of the time that the SDK takes to make a server with one tool, ${usual.toFixed(2)} of one with seven\n`,
    );
    // Far from what is measured: it is work done anew for each server, such as compiling schemas, that must be noticed.
    expect(usual).toBeLessThan(3);
  });
});

test("a server that is connected again and again has one session at a time", async () => {
  const { server, held } = await setUp();
  const host = new McpServerV1({ name: "host", version: "1.0.0" });
  attachTasks(host, server);
  const before = held();
  for (let time = 0; time < 50; time++) {
    const client = createClient();
    const [mine, theirs] = PairV1.createLinkedPair();
    await host.connect(theirs);
    await client.connect(mine);
    expect((await client.experimental.tasks.listTasks()).tasks).toEqual([]);
    await host.close();
  }
  expect(held()).toEqual(before);
});

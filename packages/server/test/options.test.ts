import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import type { TaskStore } from "@taskbridge/core/store";
import { fakeClock } from "@taskbridge/testkit";
import { fakeAdapter } from "@taskbridge/testkit/adapter";
import type { TaskServerOptions } from "../src/index.ts";
import { serve, start, stopAll } from "./serve.ts";

afterEach(stopAll);

describe("options that cannot work are refused by name", () => {
  test.each<[Partial<TaskServerOptions> | { wires: string[] }, string]>([
    [{ wires: ["2026-07-28", "sep-1686"], owners: "none" }, "wires[1]"],
    [{ wires: ["none", "2099-01-01"] }, "wires[1]"],
    [{ wires: [] }, "wires"],
    [{ waitMs: 60_000 }, "waitMs"],
    [{ waitMs: -1 }, "waitMs"],
    [{ limits: { maxBodyBytes: 0 } }, "limits.maxBodyBytes"],
    [{ limits: { maxListenTaskIds: 1.5 } }, "limits.maxListenTaskIds"],
    [{ limits: { maxReasks: -1 } }, "limits.maxReasks"],
    [{ limits: { lostAfterMs: Number.NaN } }, "limits.lostAfterMs"],
    [{ limits: { maxReask: 3 } as TaskServerOptions["limits"] & object }, "limits.maxReask"],
    [{ keepAliveMs: 0 }, "keepAliveMs"],
    [{ tools: [{ name: "a", adapter: "fake", target: {} }] }, "tools[0].target.run"],
    [{ tools: [{ name: "a b", adapter: "fake", target: { run: "x" } }] }, "tools[0].name"],
    [{ tools: [{ name: "a", adapter: "nope", target: { run: "x" } }] }, "tools[0].adapter"],
    [{ tools: [{ name: "a", adapter: "fake", target: { run: "x" }, output: { type: "nonsense" } }] }, "output"],
  ])("%j", async (options, path) => {
    await expect(start(options as Partial<TaskServerOptions>)).rejects.toMatchObject({
      code: "misconfigured",
      data: { path: expect.stringContaining(path) },
    });
  });

  test.each([
    [{ port: 99_999 }, "port"],
    [{ port: 0, path: "mcp" }, "path"],
  ])("%j", async (listen, path) => {
    const { server } = await start({});
    await expect(server.listen(listen)).rejects.toMatchObject({ code: "misconfigured", data: { path } });
  });

  test("an adapter of this host with a store that others share", async () => {
    const { adapter } = fakeAdapter({ traits: { hostBound: true } });
    await expect(
      start({ adapters: { fake: adapter }, store: { ...memoryStore(), shared: true } }),
    ).rejects.toMatchObject({
      code: "misconfigured",
      data: { path: "adapters.fake" },
      message: expect.stringContaining("store"),
    });
  });

  test("a port that is taken", async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, "127.0.0.1", () => resolve((other.address() as { port: number }).port));
    });
    const { server } = await start();
    await expect(server.listen({ port })).rejects.toMatchObject({
      code: "misconfigured",
      data: { path: "port", reason: "EADDRINUSE" },
      message: expect.stringContaining(`port ${port}`),
    });
    other.close();
  });
});

const down = new Error("down");

test.each<[string, Partial<TaskServerOptions>]>([
  ["an option", { keepAliveMs: 0 }],
  [
    "two tools of one name",
    { plainTools: [{ name: "job", inputSchema: { type: "object" }, call: () => ({ content: [] }) }] },
  ],
  ["the authenticator", { auth: { open: () => Promise.reject(down), authenticate: () => Promise.reject(down) } }],
  ["the store", { store: { ...memoryStore(), values: { ...memoryStore().values, read: () => Promise.reject(down) } } }],
])("a server that cannot start for %s leaves nothing behind at the store", async (_what, options) => {
  const listeners = new Set<unknown>();
  const { store = memoryStore(), ...others } = options;
  const watch: TaskStore["watch"] & object = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const clock = fakeClock();
  await expect(start({ ...others, clock, store: { ...store, watch } })).rejects.toThrow();
  expect([listeners.size, clock.scheduled]).toEqual([0, 0]);
});

test("one server listens in several places, and each can be closed alone", async () => {
  const { server, url, rpc } = await serve();
  const second = await server.listen({ port: 0, path: "/other" });
  expect(second.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/other$/);
  expect((await fetch(second.url)).status).toBe(400);
  await second.close();
  await expect(fetch(second.url)).rejects.toThrow();
  expect((await rpc("tools/list")).status).toBe(200);
  expect(url).not.toBe(second.url);
});

import { createServer, type ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createWorkbench, type Workbench } from "./workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
});
afterAll(() => bench.dispose());

interface Rpc {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

/** A server of 2025-11-25 by hand. `hang` leaves a method unanswered until it is told to go on. */
const handServer = async (hangs: string) => {
  const received: string[] = [];
  const waiting: (() => void)[] = [];
  let isHit = (): void => {};
  const hit = new Promise<void>((resolve) => {
    isHit = resolve;
  });
  const task = { taskId: "t-1", status: "working", ttl: null, createdAt: "2026-01-01T00:00:00Z", pollInterval: 60_000 };
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
      serverInfo: { name: "hand", version: "1" },
    },
    "tools/list": { tools: [{ name: "job", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } }] },
    "tools/call": { task },
    "tasks/get": task,
  };
  const answer = (response: ServerResponse, { id, method }: Rpc): void => {
    const body = method in results ? { result: results[method] } : { error: { code: -32_601, message: "no" } };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
  };
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const message = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Rpc;
    received.push(message.method);
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method !== hangs) return answer(response, message);
    isHit();
    waiting.push(() => answer(response, message));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    received,
    hit,
    goOn: () => {
      for (const next of waiting.splice(0)) next();
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const interrupt = async (hangs: string, args: (url: string) => string[], goesOn: boolean) => {
  const server = await handServer(hangs);
  const running = bench.spawn(args(server.url));
  await server.hit;
  running.kill("SIGINT");
  // It reaches the command before the answer does.
  if (goesOn) await new Promise((resolve) => setTimeout(resolve, 300));
  if (goesOn) server.goOn();
  const outcome = await running.done;
  server.close();
  return { outcome, received: server.received };
};

describe("Ctrl-C", () => {
  test.each(["2025-11-25", "sep-1686"])("while connecting, on %s: nothing is called", async (wire) => {
    const call = (url: string): string[] => ["call", "job", "--url", url, "--wire", wire];
    const { outcome, received } = await interrupt("initialize", call, false);
    expect(outcome).toMatchObject({ code: 130, stdout: "" });
    expect(outcome.stderr).toContain("nothing was asked of it");
    expect(received).not.toContain("tools/call");
  });

  test("while the answer with the task is on its way: how to go on with it is told", async () => {
    const call = (url: string): string[] => ["call", "job", "--url", url, "--wire", "2025-11-25", "--json"];
    const { outcome } = await interrupt("tools/call", call, true);
    expect(outcome.code).toBe(130);
    expect(outcome.stderr).toContain("taskbridge tasks watch t-1 ");
    expect(JSON.parse(outcome.stdout)).toMatchObject({ taskId: "t-1", state: "running" });
  });

  test("while a server keeps the answer to itself: it ends, and says what is not known", async () => {
    const call = (url: string): string[] => ["call", "job", "--url", url, "--wire", "2025-11-25"];
    const { outcome } = await interrupt("tools/call", call, false);
    expect(outcome).toMatchObject({ code: 130, stdout: "" });
    expect(outcome.stderr).toContain("may go on");
  });

  test("of a call without a task: it is cancelled, and that is said", async () => {
    const call = (url: string): string[] => ["call", "job", "--url", url, "--wire", "none"];
    const { outcome, received } = await interrupt("tools/call", call, false);
    expect(outcome).toMatchObject({ code: 130, stdout: "" });
    expect(outcome.stderr).toContain("the call was cancelled");
    expect(received).toContain("notifications/cancelled");
  });

  test("while a task is looked for", async () => {
    const watch = (url: string): string[] => ["tasks", "watch", "t-1", "--url", url, "--wire", "2025-11-25"];
    const { outcome } = await interrupt("tasks/get", watch, false);
    expect(outcome).toMatchObject({ code: 130, stdout: "" });
    expect(outcome.stderr).toContain("Interrupted before the task was seen");
  });
});

import { afterEach, describe, expect, test } from "@jest/globals";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Transport } from "@modelcontextprotocol/server";
import type { Message } from "../rpc-client.ts";
import { eventually, type ServeOptions, start, stopAll } from "../serve.ts";
import { form, isElicitation, job, yes } from "./task-calls.ts";

afterEach(stopAll);

/** A connection by hand: everything that the server writes, in order. */
const connect = async (options: ServeOptions = {}) => {
  const { server, backend } = await start({ tools: [job], ...options });
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  const messages: Message[] = [];
  mine.onmessage = (message: unknown) => void messages.push(message as Message);
  void server.serveStdio({ transport: theirs as unknown as Transport });
  await mine.start();
  const send = (message: object): Promise<void> => mine.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
  const answered = async (id: string): Promise<Message> => {
    await eventually(() => messages.some((message) => message.id === id));
    return messages.find((message) => message.id === id) as Message;
  };
  const clientInfo = { name: "stdio", version: "1" };
  await send({
    id: "init",
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: form, clientInfo },
  });
  await answered("init");
  await send({ method: "notifications/initialized" });
  return { server, backend, messages, send, answered };
};

const callWith = (id: string) => ({
  id,
  method: "tools/call",
  params: { name: "job", arguments: {}, task: {}, _meta: { progressToken: id } },
});

describe("[B-26] on a connection with one stream", () => {
  test("a client hears of its task only after it was handed out", async () => {
    const { messages, send, answered } = await connect({
      fake: {
        scripts: {
          job: (run) => {
            run.progress({ done: 1, total: 2 });
            run.ask({ message: "Sure?", schema: yes });
          },
        },
      },
    });
    for (let round = 0; round < 6; round++) {
      await send(callWith(`call-${round}`));
      const { result } = await answered(`call-${round}`);
      expect(result).toMatchObject({ task: { status: "working" } });
      const { taskId } = (result?.task ?? {}) as { taskId: string };
      const about = (): readonly Message[] => messages.filter((message) => JSON.stringify(message).includes(taskId));
      await eventually(() => about().some(isElicitation));
      expect(about()[0]?.id).toBe(`call-${round}`);
    }
  });

  test("statuses, progress and questions come in the order of what happens", async () => {
    const { messages, send, answered, backend } = await connect();
    await send(callWith("call"));
    const { result } = await answered("call");
    const { taskId } = (result?.task ?? {}) as { taskId: string };
    await send({ id: "wait", method: "tasks/result", params: { taskId } });
    backend.of().progress({ done: 1, total: 2 });
    await eventually(() => messages.some(({ method }) => method === "notifications/tasks/status"));
    backend.of().ask({ message: "Sure?", schema: yes });
    await eventually(() => messages.some(isElicitation));
    const { id } = messages.find(isElicitation) ?? {};
    await send({ id, result: { action: "accept", content: { ok: true } } });
    await eventually(() => backend.of().answers.length === 1);
    backend.of().succeed("done");
    await answered("wait");
    const order = messages.slice(1).map((message) => message.method ?? message.id);
    expect(order.filter((it) => it === "elicitation/create")).toHaveLength(1);
    expect(order[0]).toBe("call");
    expect(order.at(-1)).toBe("wait");
    expect(messages.at(-2)).toMatchObject({ params: { status: "completed" } });
  });

  test.each([
    { when: "while its client waits", isAwaited: true },
    { when: "before its client waits", isAwaited: false },
  ])("a process too busy to follow a task that ends $when tells nothing after the result", async ({ isAwaited }) => {
    const { messages, send, answered, backend } = await connect();
    const held: (() => void)[] = [];
    const timely = globalThis.setImmediate;
    globalThis.setImmediate = ((act: () => void) => void held.push(act)) as unknown as typeof setImmediate;
    try {
      await send(callWith("call"));
      const { result } = await answered("call");
      const { taskId } = (result?.task ?? {}) as { taskId: string };
      if (!isAwaited) backend.of().succeed("done");
      await send({ id: "wait", method: "tasks/result", params: { taskId } });
      if (isAwaited) {
        backend.of().progress({ done: 1, total: 2 });
        await eventually(() => messages.some(({ method }) => method === "notifications/tasks/status"));
        backend.of().succeed("done");
      }
      await answered("wait");
    } finally {
      globalThis.setImmediate = timely;
    }
    expect(held).not.toHaveLength(0);
    for (const act of held) act();
    await send({ id: "ping", method: "ping" });
    await answered("ping");
    // What an immediate begins to follow would be told by now.
    await new Promise((resolve) => setImmediate(resolve));
    expect(messages.slice(-2).map(({ id }) => id)).toEqual(["wait", "ping"]);
    if (isAwaited) expect(messages.filter(({ params }) => params?.status === "completed")).toHaveLength(1);
  });
});

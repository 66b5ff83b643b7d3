import { afterEach, describe, expect, test } from "@jest/globals";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { accept } from "./session-calls.ts";
import { callForTask, job } from "./task-calls.ts";

afterEach(stopAll);

const open = async (revision: string) => {
  const served = await serve({ tools: [job], waitMs: 20_000 });
  const rpc = await rpc2025(served.url, { revision });
  /** Sends a batch. `seen` waits for a text, `answers` for the end. */
  const post = async (...messages: readonly object[]) => {
    const response = await fetch(served.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept,
        "mcp-session-id": rpc.sessionId,
        "mcp-protocol-version": revision,
      },
      body: JSON.stringify(messages.map((message) => ({ jsonrpc: "2.0", ...message }))),
    });
    let text = "";
    const read = async (): Promise<void> => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
    };
    const ended = read();
    const answers = async () => {
      await inTime(ended);
      return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    };
    const seen = async (pattern: RegExp): Promise<string> => {
      await eventually(() => pattern.test(text));
      return pattern.exec(text)?.[1] ?? "";
    };
    return { seen, answers };
  };
  return { ...served, rpc, post };
};
const call = (id: unknown) => ({ id, method: "tools/call", params: { name: "job", arguments: {} } });
const cancellation = (requestId: unknown) => ({ method: "notifications/cancelled", params: { requestId } });

describe.each(["2025-03-26", "2025-11-25"])("the stream of a batch (%s)", (revision) => {
  test("goes on when one of its requests is cancelled, and ends with the last answer", async () => {
    const { rpc, post, backend } = await open(revision);
    const { answers } = await post(call(1), call(2));
    await eventually(() => backend.executions.length === 2);
    await rpc.send(cancellation(1));
    await eventually(() => backend.callsOf("cancel").length === 1);
    for (const run of backend.executions) run.succeed("done");
    expect(await answers()).toMatchObject([{ id: 2, result: { isError: false } }]);
    // They are over, so that their IDs are nobody's.
    expect((await rpc.request("ping", {}, { id: 2 })).status).toBe(200);
  });

  test("ends when what is left after an answer is cancelled", async () => {
    const { rpc, post, backend } = await open(revision);
    const { answers, seen } = await post(call(1), call(2));
    await eventually(() => backend.executions.length === 2);
    backend.executions[1]?.succeed("done");
    const answered = Number(await seen(/"id":([12])/));
    await rpc.send(cancellation(3 - answered));
    expect(await answers()).toMatchObject([{ id: answered, result: { isError: false } }]);
  });

  test("ends when all of its requests are cancelled", async () => {
    const { rpc, post, backend } = await open(revision);
    const { answers } = await post(call("a"), call("b"));
    await eventually(() => backend.executions.length === 2);
    await rpc.send(cancellation("b"));
    await rpc.send(cancellation("a"));
    expect(await answers()).toEqual([]);
  });

  test("ends with the answer to what is left when it takes another back itself", async () => {
    const { post } = await open(revision);
    const { answers } = await post({ id: 11, method: "ping" }, call(12), cancellation(12));
    expect(await answers()).toMatchObject([{ id: 11, result: {} }]);
  });
});

describe("[H-11] the ID of a request that is not answered yet", () => {
  const inUse = { code: -32_600, message: "Invalid Request: the id is in use" };

  test("is refused to another, and the first is answered", async () => {
    const { rpc, backend } = await open("2025-11-25");
    const taskId = await callForTask(rpc);
    const waiting = await rpc.open("tasks/result", { taskId }, { id: 5 });
    const again = await rpc.request("ping", {}, { id: 5 });
    expect([again.status, again.messages]).toEqual([400, [{ jsonrpc: "2.0", id: 5, error: inUse }]]);
    // Another type is another ID.
    expect((await rpc.request("ping", {}, { id: "5" })).status).toBe(200);
    backend.of().succeed("done");
    await inTime(waiting.ended);
    expect(waiting.messages.filter(({ id }) => id === 5)).toMatchObject([{ result: { isError: false } }]);
    expect((await rpc.request("ping", {}, { id: 5 })).status).toBe(200);
  });

  test("starts nothing more", async () => {
    const { rpc, backend } = await open("2025-11-25");
    const first = rpc.request("tools/call", { name: "job" }, { id: "call" });
    await eventually(() => backend.starts() === 1);
    for (const params of [{ name: "job" }, { name: "job", task: {} }]) {
      expect((await rpc.request("tools/call", params, { id: "call" })).error).toEqual(inUse);
    }
    backend.of().succeed("done");
    expect((await first).result).toMatchObject({ isError: false });
    expect(backend.starts()).toBe(1);
  });

  test("is refused in a batch, of which nothing is then done", async () => {
    const { rpc, post, backend } = await open("2025-03-26");
    const { seen } = await post(call("a"), call("b"), call("a"));
    expect(JSON.parse(await seen(/^({.+})$/))).toEqual({ jsonrpc: "2.0", id: "a", error: inUse });
    expect((await rpc.request("ping", {}, { id: "a" })).status).toBe(200);
    expect(backend.starts()).toBe(0);
  });
});

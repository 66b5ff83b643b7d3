import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { form } from "../rev-2025/task-calls.ts";
import { serve, start, stopAll } from "../serve.ts";
import { answerOf, auth, open, wires } from "./sep1686-session.ts";

afterEach(stopAll);

const path = '_meta["modelcontextprotocol.io/task"]';

describe("[M-3] a mark that is none", () => {
  test.each<[string, unknown, Record<string, unknown>, string]>([
    ["an ID of 10 kB", "x".repeat(10_240), {}, `${path}.taskId`],
    ["control characters", "a\u0000\u001b[2Jb", {}, `${path}.taskId`],
    ["path pieces", "../../etc/passwd", {}, `${path}.taskId`],
    ["dots alone", "...", {}, `${path}.taskId`],
    ["nothing", "", {}, `${path}.taskId`],
    ["no ASCII", "tâche", {}, `${path}.taskId`],
    ["the scope of another owner", `${"0".repeat(32)}~c-1`, {}, `${path}.taskId`],
    ["no text", { $ne: null }, {}, `${path}.taskId`],
    ["a keepAlive below 0", "c-1", { keepAlive: -1 }, `${path}.keepAlive`],
    ["a keepAlive that is no number", "c-1", { keepAlive: "60000" }, `${path}.keepAlive`],
    ["a keepAlive beyond all numbers", "c-1", { keepAlive: null }, `${path}.keepAlive`],
  ])("is refused by the name of its field: %s", async (_what, taskId, mark, field) => {
    const { draft, backend } = await open();
    const { error } = await answerOf(await draft.call(taskId, { mark }));
    expect(error).toMatchObject({ code: -32_602, data: { path: field } });
    expect(error?.message.length).toBeLessThan(300);
    expect(backend.starts()).toBe(0);
    expect((await draft.request("tasks/list")).result).toEqual({ tasks: [] });
  });

  test("is refused before anybody is asked anything, and says what is wrong", async () => {
    const prepare = () => ({ questions: { sure: { message: "Sure?" } } });
    const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, prepare }];
    const { draft } = await open({ tools, session: { capabilities: form } });
    const stream = await draft.call("...");
    const needed = "1 to 128 of A-Z a-z 0-9 _ . : - are needed, not dots alone";
    expect((await answerOf(stream)).error?.message).toBe(`${path}.taskId: ${needed}, got "..."`);
    expect(stream.messages).toHaveLength(1);
  });

  test("with the task of 2025-11-25 beside it is refused", async () => {
    const { draft, backend } = await open({ session: { revision: "2025-11-25" } });
    const { error } = await answerOf(await draft.call("c-1", { params: { task: {} } }));
    expect(error).toMatchObject({ code: -32_602, data: { path: "task" } });
    expect(backend.starts()).toBe(0);
  });
});

describe("[M-1] a server whose callers have no owners", () => {
  const refused = (index: number) =>
    expect.objectContaining({ code: "misconfigured", data: { path: `wires[${index}]` } });

  test("does not start where that is said", async () => {
    await expect(start({ wires, owners: "none" })).rejects.toEqual(refused(2));
    await expect(start({ wires: ["sep-1686"], owners: "none" })).rejects.toEqual(refused(0));
    await start({ wires, owners: "none", auth });
    await start({ owners: "none" });
  });

  test("does not listen where others can reach it and nobody is verified", async () => {
    const { server } = await start({ wires });
    const listen = { port: 0, host: "0.0.0.0", unsafePublic: true };
    await expect(server.listen(listen)).rejects.toEqual(refused(2));
    const { server: verified } = await start({ wires, auth });
    await verified.listen(listen);
  });

  test("refuses the marked call of somebody whom nobody has verified", async () => {
    const { server, backend } = await start({ wires, store: memoryStore() });
    const send = (body: object, session?: string): Promise<Response> =>
      server.fetch(
        new Request("http://localhost/mcp", {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            ...(session === undefined ? {} : { "mcp-session-id": session }),
          },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
        }),
      );
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const opened = await send({ method: "initialize", params });
    await opened.text();
    const _meta = { "modelcontextprotocol.io/task": { taskId: "c-1" } };
    const session = opened.headers.get("mcp-session-id") ?? "";
    const answer = await send({ method: "tools/call", params: { name: "job", _meta } }, session);
    const text = await answer.text();
    expect(text).toContain('"code":-32602');
    expect(text).toContain("this server does not authenticate");
    expect(backend.starts()).toBe(0);
  });

  test("a name that is no generation is still refused", async () => {
    await expect(serve({ wires: ["sep-1687" as "sep-1686"] })).rejects.toEqual(refused(0));
  });
});

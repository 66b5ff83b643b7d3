import { afterEach, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import type { Message } from "../rpc-client.ts";
import { eventually, start, stopAll } from "../serve.ts";
import { form, isElicitation, job, yes } from "./task-calls.ts";

afterEach(stopAll);

const url = "http://localhost/mcp";
const accept = "application/json, text/event-stream";

/** A session without a network in between: nothing is taken from a stream that is not read. */
const open = async () => {
  const clock = fakeClock();
  const store = memoryStore({ clock });
  const { server, backend } = await start({ tools: [job], clock, store, fake: { clock }, owners: "local" });
  const post = (message: object, headers: Record<string, string>): Promise<Response> =>
    server.fetch(
      new Request(url, {
        method: "POST",
        headers: { "content-type": "application/json", accept, ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      }),
    );
  const clientInfo = { name: "slow", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: form, clientInfo };
  const first = await post({ id: 0, method: "initialize", params }, {});
  const headers = {
    "mcp-session-id": first.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": "2025-11-25",
  };
  const task = { name: "job", arguments: {}, task: {}, _meta: { progressToken: "p" } };
  const created = await post({ id: 1, method: "tools/call", params: task }, headers);
  const [answer] = toMessages(await created.text());
  const { taskId } = (answer?.result?.task ?? {}) as { taskId: string };
  const listen = (signal?: AbortSignal): Promise<Response> =>
    server.fetch(
      new Request(url, { headers: { accept: "text/event-stream", ...headers }, ...(signal ? { signal } : {}) }),
    );
  return { backend, clock, taskId, listen, send: (message: object) => post(message, headers) };
};

const toMessages = (text: string): readonly Message[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as Message);

/** Reads on until it is stopped by the stream's end. */
const read = (response: Response): Message[] => {
  const messages: Message[] = [];
  const take = async (): Promise<void> => {
    for await (const chunk of response.body ?? []) {
      messages.push(...toMessages(new TextDecoder().decode(chunk as Uint8Array)));
    }
  };
  void take();
  return messages;
};

test("[B-26] a client that does not read is told nothing meanwhile, and the newest state when it reads again", async () => {
  const { backend, clock, listen, taskId } = await open();
  const stream = await listen();
  for (let step = 1; step <= 100; step++) {
    backend.of().progress({ done: step, total: 100 });
    await backend.events.settled();
    await clock.advance(1_000);
  }
  const messages = read(stream);
  await clock.advance(2_000);
  await eventually(() => messages.length === 2);
  expect(messages.map(({ method }) => method)).toEqual(["notifications/progress", "notifications/tasks/status"]);
  expect(messages[1]?.params).toMatchObject({ taskId, statusMessage: "100 of 100" });
});

test("[B-26] a client that does not read still learns of the end", async () => {
  const { backend, clock, listen } = await open();
  const stream = await listen();
  backend.of().succeed("done");
  await backend.events.settled();
  await clock.advance(30_000);
  const messages = read(stream);
  await clock.advance(2_000);
  await eventually(() => messages.length === 1);
  expect(messages[0]?.params).toMatchObject({ status: "completed" });
});

test("[B-15] a question that was never taken from a stream is put again on the next one", async () => {
  const { backend, clock, listen, send } = await open();
  const leaving = new AbortController();
  await listen(leaving.signal);
  backend.of().ask({ message: "Sure?", schema: yes });
  await backend.events.settled();
  await clock.advance(5_000);
  leaving.abort();
  const messages = read(await listen());
  await eventually(() => messages.some(isElicitation));
  for (let turn = 0; turn < 8; turn++) await clock.advance(10_000);
  const [asked, ...more] = messages.filter(isElicitation);
  expect(more).toEqual([]);
  await send({ id: asked?.id, result: { action: "accept", content: { ok: true } } });
  await eventually(() => backend.of().answers.length === 1);
});

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "@jest/globals";
import { rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, serve, stopAll } from "../serve.ts";
import { openSession, send } from "./session-calls.ts";

afterEach(stopAll);

setFlagsFromString("--expose_gc");
const collectGarbage = runInNewContext("gc") as () => void;
/** Bytes in use, after everything that can go has gone. */
const heap = async (): Promise<number> => {
  for (let turn = 0; turn < 3; turn++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
};
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

/** Runs `work` so many times, a few at once. */
const many = async (times: number, work: (index: number) => Promise<unknown>): Promise<void> => {
  let next = 0;
  const run = async (): Promise<void> => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: 20 }, run));
};

test("[H-9] hundreds of sessions that come and go leave neither memory nor timers behind", async () => {
  const { url, server } = await serve({ limits: { maxSessions: 50 } });
  const steady = await rpc2025(url);
  const own = await steady.listen();
  /** Some are ended by their client, a few with a stream that it left; the others are dropped and make room later. */
  const comeAndGo = async (index: number): Promise<void> => {
    const id = await openSession(url);
    const headers = { "mcp-session-id": id };
    const events = { headers: { ...headers, accept: "text/event-stream" } };
    if (index % 20 === 0) await (await fetch(url, events)).body?.cancel();
    if (index % 5 === 0) await send(url, { method: "DELETE", headers });
  };
  await many(100, comeAndGo);
  const [heapBefore, timersBefore] = [await heap(), timers()];
  await many(400, comeAndGo);
  const grownBytes = (await heap()) - heapBefore;
  expect(grownBytes).toBeLessThan(2 * 1_048_576);
  // The client's own connections have a few.
  await eventually(() => timers() <= timersBefore + 10);
  expect((await steady.request("ping")).status).toBe(200);
  await inTime(server.close());
  await inTime(own.ended);
}, 120_000);

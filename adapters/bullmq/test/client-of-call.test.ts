import { expect, it } from "@jest/globals";
import type { StartKey } from "@taskbridge/core/adapter";
import { answerJob } from "../src/answer-job.ts";
import type { BullmqClient, QueuePort } from "../src/redis/client.ts";
import { clientOfCall } from "../src/redis/client-of-call.ts";
import { parseTarget } from "../src/settings/parse-target.ts";
import { parseStart, repeatStart, startJob } from "../src/start-job.ts";

const location = { prefix: "bull", queue: "q" };
const key = `mcp-${"0".repeat(32)}` as StartKey;
const start = parseStart(
  { key, target: parseTarget({ queue: "q" }), input: "{}", attempt: 1 },
  parseTarget({ queue: "q" }),
  {},
);
const busy = new Error("BUSY Redis is busy running a script");

/** A queue that has seen nothing, and takes everything. */
const openWith = async (operations: Partial<QueuePort>, signal = new AbortController().signal) => {
  const sent: string[] = [];
  const note =
    <Value>(name: string, value: Value) =>
    async () => {
      sent.push(name);
      return value;
    };
  const port = {
    prefix: "bull",
    name: "q",
    add: note("add", key),
    read: async () => ({ exists: true, isPaused: false, rows: [] }),
    now: async () => Date.now(),
    storeAnswer: note("storeAnswer", "stored" as const),
    promote: note("promote", undefined),
    ...operations,
  } as unknown as QueuePort;
  const state = { wasSent: false, hasChanged: false };
  const client = clientOfCall({ open: async () => port } as unknown as BullmqClient, signal, state);
  return { queue: await client.open(location), state, sent };
};

it("a start that was accepted is one, though the read behind it fails", async () => {
  const { queue } = await openWith({ read: () => Promise.reject(busy) });
  expect(JSON.parse((await startJob(queue, start)).ref)).toMatchObject({ id: key });
});

it("a verb that fails at its second step has changed something", async () => {
  const { queue, state } = await openWith({ promote: () => Promise.reject(busy) });
  const request = { answerId: "a", attempt: 1, question: { id: "go#1", message: "Go?" }, action: "decline" } as const;
  await expect(answerJob(queue, key, request)).rejects.toBe(busy);
  expect(state).toEqual({ wasSent: true, hasChanged: true });
});

it("a verb whose only step is refused has changed nothing", async () => {
  const { queue, state } = await openWith({ add: () => Promise.reject(busy) });
  await expect(startJob(queue, start)).rejects.toBe(busy);
  expect(state).toEqual({ wasSent: true, hasChanged: false });
});

it("a start that was given up while it was looking for an earlier one adds nothing later", async () => {
  const giveUp = new AbortController();
  const { queue, state, sent } = await openWith({}, giveUp.signal);
  const search = async () => {
    giveUp.abort();
    return { traces: new Map(), reached: "since" as const };
  };
  const earlier = { key, firstSentAt: Date.now(), now: Date.now, search, operation: "start" } as const;
  await expect(repeatStart(queue, start, earlier)).rejects.toMatchObject({ name: "AbortError" });
  expect({ sent, state }).toEqual({ sent: [], state: { wasSent: false, hasChanged: false } });
});

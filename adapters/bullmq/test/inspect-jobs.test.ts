import { expect, it } from "@jest/globals";
import { BridgeError } from "@taskbridge/core/adapter";
import { toRef } from "../src/execution-ref.ts";
import { inspectJobs } from "../src/inspect-jobs.ts";
import type { BullmqClient, JobRow, QueuePort } from "../src/redis/client.ts";

const context = { signal: new AbortController().signal, now: () => 1_000, log: () => {} };
const search = async () => ({ traces: new Map(), reached: "beginning" as const });
const waiting: JobRow = {
  state: "waiting",
  attemptsMade: 0,
  returnBytes: 0,
  children: { done: 0, failed: 0, pending: 0 },
  childKeys: [],
};
const parent: JobRow = { ...waiting, state: "waiting-children", childKeys: ["bull:other:1"] };
const cancelled: JobRow = { ...waiting, cancelReason: "enough" };

const inspect = (row: JobRow, operations: Partial<QueuePort>) => {
  const queue = {
    prefix: "bull",
    name: "q",
    read: async () => ({ exists: true, isPaused: false, rows: [row, waiting] }),
    countWorkers: async () => 1,
    ...operations,
  } as unknown as QueuePort;
  const open: BullmqClient["open"] = async (location) => {
    if (location.queue === "q") return queue;
    throw new BridgeError("misconfigured", "no connection for the queue other");
  };
  const items = ["one", "two"].map(
    (id) => ({ ref: toRef({ prefix: "bull", queue: "q", id }), want: "detail" }) as const,
  );
  return inspectJobs({ open } as unknown as BullmqClient, items, search, context);
};
const replied = (text: string) => Object.assign(new Error(text), { name: "ReplyError" });

it("looks at the others where the children of one cannot be looked at", async () => {
  const [one, two] = await inspect(parent, { locate: async () => ({ prefix: "bull", queue: "other", id: "1" }) });
  expect(one).toMatchObject({ error: { code: "misconfigured" } });
  expect(two).toMatchObject({ snapshot: { status: "queued" } });
});

it("looks at the others where a cancelled one cannot be removed", async () => {
  const markCancelled = () => Promise.reject(replied("WRONGTYPE Operation against a key"));
  const [one, two] = await inspect(cancelled, { markCancelled });
  expect(one).toMatchObject({ error: { code: "unavailable", notSent: false } });
  expect(two).toMatchObject({ snapshot: { status: "queued" } });
});

it("rejects as a whole when Redis goes away meanwhile", async () => {
  const gone = new Error("Connection is closed.");
  await expect(inspect(cancelled, { markCancelled: () => Promise.reject(gone) })).rejects.toBe(gone);
});

import { describe, expect, it } from "@jest/globals";
import { BridgeError, type ExecutionUpdate } from "@taskbridge/core/adapter";
import type { QueueClient, QueueMessage } from "../../src/events/queue-client.ts";
import { watchQueue } from "../../src/events/watch-queue.ts";
import { callContext, newKey } from "../call-context.ts";

/** A queue that gives what lies in it at each poll, until it is deleted; an empty one keeps the poll waiting. */
const fakeQueue = (bodies: readonly unknown[] = []) => {
  const lying = new Map(bodies.map((body, index) => [String(index), JSON.stringify(body)]));
  const failures: BridgeError[] = [];
  let polls = 0;
  let wake = (): void => {};
  const client: QueueClient = {
    receive: async (waitSeconds, signal) => {
      polls++;
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      if (lying.size === 0 && waitSeconds > 0)
        await new Promise<void>((resolve, reject) => {
          wake = resolve;
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      return [...lying].map(([id, body]): QueueMessage => ({ id, body, handle: id }));
    },
    delete: async (messages) => {
      for (const { handle } of messages) lying.delete(handle);
    },
    check: async () => {},
    close: () => {},
  };
  return {
    client,
    lying,
    failures,
    polls: () => polls,
    put: (body: unknown) => {
      lying.set(String(lying.size + 100), JSON.stringify(body));
      wake();
    },
  };
};

const eventOf = (name: string, status = "SUCCEEDED") => ({
  source: "aws.states",
  detail: { executionArn: `arn:aws:states:eu-west-1:111122223333:execution:orders:${name}`, status },
});

const listen = async (queue: ReturnType<typeof fakeQueue>, given: { readonly refuses?: number } = {}) => {
  const updates: ExecutionUpdate[] = [];
  const hurried: string[] = [];
  const seen: (() => void)[] = [];
  let refusals = given.refuses ?? 0;
  let fail: (error: BridgeError) => void = () => {};
  const ended = new Promise<BridgeError>((resolve) => {
    fail = resolve;
  });
  const context = callContext();
  const subscription = await watchQueue(
    queue.client,
    {
      targets: [],
      ended: (error) => fail(error),
      sink: async (update) => {
        if (refusals-- > 0) throw new BridgeError("unavailable", "the store is away");
        updates.push(...update);
        for (const report of seen.splice(0)) report();
      },
    },
    { hurry: (arn) => hurried.push(arn), pause: async () => {} },
    context,
  );
  const next = (): Promise<void> =>
    updates.length > 0 ? Promise.resolve() : new Promise((resolve) => seen.push(resolve));
  return { updates, hurried, ended, next, context, close: subscription.close };
};

describe("the queue", () => {
  it("is told from at once, and deleted from only when the news is in the store", async () => {
    const key = newKey();
    const queue = fakeQueue([eventOf(key)]);
    const listening = await listen(queue, { refuses: 1 });
    await listening.next();
    expect(listening.updates).toEqual([{ ref: eventOf(key).detail.executionArn }]);
    await listening.close();
    // It came again after the refusal.
    expect(queue.polls()).toBeGreaterThan(1);
    expect(queue.lying.size).toBe(0);
  });

  it("is rid of what is foreign or unreadable, the latter said so", async () => {
    const key = newKey();
    const queue = fakeQueue([eventOf("nightly"), { a: 1 }, eventOf(key)]);
    const listening = await listen(queue);
    await listening.next();
    await listening.close();
    expect(listening.updates).toHaveLength(1);
    expect(queue.lying.size).toBe(0);
    expect(listening.context.logged).toEqual([expect.stringContaining("names no execution")]);
  });

  it("is heard as messages come, and has questions of those read first", async () => {
    const key = newKey();
    const queue = fakeQueue();
    const listening = await listen(queue);
    queue.put(eventOf(key));
    await listening.next();
    expect(listening.hurried).toEqual([eventOf(key).detail.executionArn]);
    await listening.close();
    await listening.close();
  });

  it("that is not there is told when listening begins", async () => {
    const queue = fakeQueue();
    queue.failures.push(new BridgeError("not_found", "no such queue"));
    await expect(listen(queue)).rejects.toMatchObject({ code: "not_found" });
  });

  it("that stays away ends the subscription", async () => {
    const queue = fakeQueue([eventOf(newKey())]);
    const listening = await listen(queue);
    await listening.next();
    queue.failures.push(...Array.from({ length: 5 }, () => new BridgeError("unavailable", "away")));
    queue.put(eventOf(newKey()));
    expect(await listening.ended).toMatchObject({ code: "unavailable", message: "away" });
    await listening.close();
  });

  it("tells that an execution runs again after its end", async () => {
    const key = newKey();
    const redriven = eventOf(key, "RUNNING");
    const queue = fakeQueue([{ ...redriven, detail: { ...redriven.detail, redriveCount: 1 } }]);
    const listening = await listen(queue);
    await listening.next();
    await listening.close();
    expect(listening.updates).toEqual([{ ref: redriven.detail.executionArn, snapshot: { status: "running" } }]);
    expect(listening.context.logged).toEqual([expect.stringContaining("redriven")]);
  });
});

import { expect, it } from "@jest/globals";
import { createSample } from "@taskbridge/testkit/store";
import { parseChangeMessage } from "../../src/changes/change-message.ts";
import { connect, describeRedis, newPrefix, openStore, sharedUrl, until } from "../redis-bench.ts";

it.each([["a"], ["a", "task-1", "task-2"]])("a message of ours is read: %j", (...message) => {
  expect(parseChangeMessage(JSON.stringify(message))).toEqual(message);
});

const foreign = ["", "hello", "5", "null", "{}", "[]", '["a",5]', '[{},"task"]', '["a",["b"]]', '{"0":"a"}'];

it.each(foreign)("a message that is not ours says nothing of which tasks: %s", (text) => {
  expect(parseChangeMessage(text)).toEqual([""]);
});

describeRedis("what others publish on the channel", () => {
  it("is told as that anything may have changed, and ours is told after it", async () => {
    const [url, prefix] = [await sharedUrl(), newPrefix()];
    const [store, other] = [await openStore({ url, prefix }), await openStore({ url, prefix })];
    const notified: unknown[] = [];
    store.watch?.((taskId) => notified.push(taskId));
    await until("it listens", () => (notified.length === 1 ? true : undefined));
    const redis = connect(url);
    for (const text of foreign) await redis.publish(`${prefix}changes`, text);
    const { taskId } = await createSample(other);
    await until("the change is told", () => notified.find((id) => id === taskId));
    expect(notified).toEqual([undefined, ...foreign.map(() => undefined), taskId]);
  });

  it("is heard by nobody who watches a store that is closed, and no connection stays", async () => {
    const [url, prefix] = [await sharedUrl(), newPrefix()];
    const store = await openStore({ url, prefix });
    await store.close();
    const notified: unknown[] = [];
    store.watch?.((taskId) => notified.push(taskId));
    // It would be there before what is opened later.
    const other = await openStore({ url, prefix });
    const received: unknown[] = [];
    other.watch?.((taskId) => received.push(taskId));
    await until("the other listens", () => (received.length === 1 ? true : undefined));
    expect(notified).toEqual([]);
    expect(await connect(url).pubsub("NUMSUB", `${prefix}changes`)).toEqual([`${prefix}changes`, 1]);
  });
});

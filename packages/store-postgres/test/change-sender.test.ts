import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { asTaskId } from "@taskbridge/core/store";
import { createChangeSender } from "../src/change-sender.ts";
import type { Connection, Statement } from "../src/connection.ts";
import { until } from "./until.ts";

const origin = "us";

/** A server that only notes down the notices, and fails for as long as it is told to. */
const noteDown = () => {
  const batches: unknown[][] = [];
  const state = { isUnavailable: false, attempts: 0, busy: undefined as Promise<void> | undefined };
  const connection: Connection = {
    location: "nowhere",
    query: async (_: string, { values = [] }: Statement) => {
      state.attempts += 1;
      await state.busy;
      if (state.isUnavailable) throw new Error("away");
      batches.push((values[1] as string[]).map((notice) => JSON.parse(notice)));
      return [];
    },
    close: async () => undefined,
  };
  return { batches, state, sender: createChangeSender(connection, "channel", origin) };
};

describe("notices of changes", () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it("go out together, each task once", async () => {
    const { batches, sender } = noteDown();
    for (const taskId of ["a", "b", "a"]) sender.add(asTaskId(taskId));
    await until("they are sent", () => batches.length > 0);
    expect(batches).toEqual([[{ origin, taskIds: ["a", "b"] }]]);
    await sender.close();
    expect(batches).toHaveLength(1);
  });

  it("are cut into pieces that PostgreSQL takes, whatever the IDs", async () => {
    const { batches, sender } = noteDown();
    const taskIds = Array.from({ length: 300 }, (_, index) => asTaskId(`${index}-"日本語"-${"x".repeat(index)}`));
    for (const taskId of taskIds) sender.add(taskId);
    await sender.close();
    const notices = batches.flat() as { readonly taskIds: readonly string[] }[];
    expect(notices.flatMap((notice) => notice.taskIds)).toEqual(taskIds);
    for (const notice of notices) expect(Buffer.byteLength(JSON.stringify(notice))).toBeLessThan(8_000);
  });

  it("that could not be sent become one that says that anything may have changed", async () => {
    const { batches, state, sender } = noteDown();
    state.isUnavailable = true;
    sender.add(asTaskId("a"));
    await until("it was tried", () => state.attempts > 0);
    state.isUnavailable = false;
    sender.add(asTaskId("b"));
    await until("they are sent", () => batches.length > 0);
    expect(batches).toEqual([[{ origin, taskIds: null }]]);
    await sender.close();
  });

  it("go out one after the other, however long the server takes, and the last before the end", async () => {
    jest.useFakeTimers();
    const { batches, state, sender } = noteDown();
    const standStill = () => {
      let goOn = (): void => undefined;
      state.busy = new Promise((resolve) => {
        goOn = resolve;
      });
      return goOn;
    };
    const addSoon = async (taskId: string) => {
      sender.add(asTaskId(taskId));
      await jest.advanceTimersByTimeAsync(1_000);
    };
    const answerFirst = standStill();
    await addSoon("a");
    await addSoon("b");
    await addSoon("c");
    expect(state.attempts).toBe(1);
    answerFirst();
    await jest.advanceTimersByTimeAsync(1_000);
    const answerLater = standStill();
    await addSoon("d");
    await addSoon("e");
    const closed = sender.close();
    expect(state.attempts).toBe(3);
    answerLater();
    await closed;
    expect(batches.flat()).toEqual([["a"], ["b", "c"], ["d"], ["e"]].map((taskIds) => ({ origin, taskIds })));
  });

  it("too many to name become such a one too", async () => {
    const { batches, sender } = noteDown();
    for (let index = 0; index <= 20_000; index++) sender.add(asTaskId(String(index)));
    await sender.close();
    expect(batches).toEqual([[{ origin, taskIds: null }]]);
  });
});

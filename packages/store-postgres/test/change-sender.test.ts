import { describe, expect, it } from "@jest/globals";
import { asTaskId } from "@taskbridge/core/store";
import { createChangeSender } from "../src/change-sender.ts";
import type { Connection, Statement } from "../src/connection.ts";
import { until } from "./until.ts";

const origin = "us";

/** A server that only notes down the notices, and fails for as long as it is told to. */
const noteDown = () => {
  const batches: unknown[][] = [];
  const state = { isAway: false, attempts: 0 };
  const connection: Connection = {
    place: "nowhere",
    query: async (_: string, { values = [] }: Statement) => {
      state.attempts += 1;
      if (state.isAway) throw new Error("away");
      batches.push((values[1] as string[]).map((notice) => JSON.parse(notice)));
      return [];
    },
    close: async () => undefined,
  };
  return { batches, state, sender: createChangeSender(connection, "channel", origin) };
};

describe("notices of changes", () => {
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
    state.isAway = true;
    sender.add(asTaskId("a"));
    await until("it was tried", () => state.attempts > 0);
    state.isAway = false;
    sender.add(asTaskId("b"));
    await until("they are sent", () => batches.length > 0);
    expect(batches).toEqual([[{ origin, taskIds: null }]]);
    await sender.close();
  });

  it("too many to name become such a one too", async () => {
    const { batches, sender } = noteDown();
    for (let index = 0; index <= 20_000; index++) sender.add(asTaskId(String(index)));
    await sender.close();
    expect(batches).toEqual([[{ origin, taskIds: null }]]);
  });
});

import { describe, expect, it } from "@jest/globals";
import type { TaskId } from "@taskbridge/core/store";
import { createChangeListener, parseNotice } from "../src/change-listener.ts";
import { describeWithPostgres, useDatabase } from "./database.ts";
import { until } from "./until.ts";

describeWithPostgres("who listens", () => {
  const { url, run } = useDatabase();
  const channel = "test_who_listens";

  it("hears of others' changes, not of its own, and takes what it cannot read for a change of anything", async () => {
    const client = { connectionString: url() };
    const listener = createChangeListener({ client, channel, origin: "us", timeoutMs: 5_000 });
    const notified: (TaskId | undefined)[] = [];
    const stop = listener.watch((taskId) => notified.push(taskId));
    await until("it listens", () => notified.length > 0);
    const notices = [
      '{"origin":"them","taskIds":["a","b"]}',
      '{"origin":"us","taskIds":["ours"]}',
      "garbage",
      "null",
      '{"origin":"them","taskIds":["x",7]}',
      '{"origin":"them","taskIds":["y"],"later":"version"}',
      '{"origin":"them","taskIds":["c"]}',
    ];
    for (const notice of notices) await run("SELECT pg_notify($1, $2)", [channel, notice]);
    await until("it hears the last", () => notified.includes("c" as TaskId));
    expect(notified.slice(1)).toEqual(["a", "b", undefined, undefined, undefined, undefined, "c"]);
    stop();
    // Begun anew, it may have missed something.
    const again: (TaskId | undefined)[] = [];
    listener.watch((taskId) => again.push(taskId));
    await until("it listens again", () => again.length > 0);
    expect(again).toEqual([undefined]);
    listener.close();
    await until("its session is gone", async () => {
      const sessions = await run("SELECT 1 FROM pg_stat_activity WHERE query LIKE $1", [`LISTEN "${channel}"%`]);
      return sessions.length === 0;
    });
  });
});

describe("a message on the channel of changes", () => {
  it.each([
    [{ origin: "them", taskIds: ["a", "b"] }],
    [{ origin: "them", taskIds: [] }],
    [{ origin: "them", taskIds: null }],
  ])("is a notice: %j", (notice) => {
    expect(parseNotice(JSON.stringify(notice))).toEqual(notice);
  });

  it.each([
    ["nothing", undefined],
    ["empty", ""],
    ["no JSON", "hello"],
    ["cut off", '{"origin":"them","taskIds":["a"'],
    ["null", "null"],
    ["a number", "5"],
    ["a text", '"origin"'],
    ["a list", "[]"],
    ["without members", "{}"],
    ["without an origin", '{"taskIds":["a"]}'],
    ["without tasks", '{"origin":"them"}'],
    ["from a number", '{"origin":7,"taskIds":["a"]}'],
    ["of a number", '{"origin":"them","taskIds":5}'],
    ["of an object", '{"origin":"them","taskIds":{"length":1}}'],
    ["of what are no IDs", '{"origin":"them","taskIds":["a",5,null]}'],
    ["of a version with more members", '{"origin":"them","taskIds":["a"],"payloads":["b"]}'],
    ["8 kB of text", "x".repeat(7_999)],
    ["8 kB of brackets", "[".repeat(7_999)],
  ])("is none: %s", (_, payload) => {
    expect(parseNotice(payload)).toBeUndefined();
  });
});

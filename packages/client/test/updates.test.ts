import { afterEach, expect, test } from "@jest/globals";
import { taskClient } from "../src/index.ts";
import { connections, endAll, eventually, jsonOf, serve } from "./serve.ts";

afterEach(endAll);

// A client that only polled would take a minute.
const tools = [{ name: "job", adapter: "fake", target: { run: "job" }, task: { pollIntervalMs: 60_000 } }];

test.each(connections)("news of a task is not waited for: $name", async ({ modern, open }) => {
  const served = await serve({ wires: ["2026-07-28", "2025-11-25", "none"], tools });
  const calls = taskClient(await open(served));
  expect(calls.wire).toBe(modern ? "2026-07-28" : "2025-11-25");
  const pending = calls.beginCall("job");
  await pending.created;
  await eventually(() => pending.task?.status === "working");
  // On 2025-11-25 over HTTP the session's own stream is opened beside the first requests.
  await eventually(() => served.backend.starts() === 1);
  served.backend.of().succeed({ done: 5 });
  expect(await jsonOf(pending)).toEqual({ done: 5 });
});

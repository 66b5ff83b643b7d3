import { expect, test } from "@jest/globals";
import type { TaskView } from "@taskbridge/core";
import type { Owner } from "../../src/caller.ts";
import type { ServeContext } from "../../src/mcp/serve-context.ts";
import { silentLog } from "../../src/server-log.ts";
import { toOrigin } from "../../src/session/call-origin.ts";
import { cancelElsewhere } from "../../src/session/cancel-elsewhere.ts";
import type { Session2025 } from "../../src/session/session-2025.ts";

const session = { name: "session" } as Session2025;

/** An owner with so many open tasks, of which the oldest, listed last, is that of the call. */
const cancelAmong = async (count: number) => {
  const cancelled: string[] = [];
  const warnings: unknown[] = [];
  const views = Array.from({ length: count }, (_, index) => {
    const origin = toOrigin("session", index === count - 1 ? "call" : `other ${index}`);
    const record = { taskId: `task ${index + 1}`, origin, state: "running", questions: [] };
    return { record, isClientMinted: true } as unknown as TaskView;
  });
  const engine = {
    listTasks: async (_access: unknown, _filter: unknown, cursor: string | undefined, limit: number) => {
      const end = Number(cursor ?? 0) + limit;
      const tasks = views.slice(end - limit, end);
      return end < views.length ? { tasks, cursor: String(end) } : { tasks };
    },
    cancelTask: async (taskId: string) => void cancelled.push(taskId),
  };
  const log = { ...silentLog, warn: (...warning: unknown[]) => void warnings.push(warning) };
  await cancelElsewhere({ engine, log } as unknown as ServeContext, session, "owner" as Owner, "call");
  return { cancelled, warnings: warnings.length };
};

test.each([
  [1, ["task 1"], 0],
  [101, ["task 101"], 0],
  [1_000, ["task 1000"], 0],
  [1_001, [], 1],
])("the task of a call is found as the last of %d", async (count, cancelled, warnings) => {
  expect(await cancelAmong(count)).toEqual({ cancelled, warnings });
});

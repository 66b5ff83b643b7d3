import { eventually } from "../serve.ts";
import type { Client20251125 } from "./client-2025-11-25.ts";
import { fakeTool, type Scenario, type Stage } from "./golden-wire.ts";

const waitMs = 30_000;
const call = { name: "job", arguments: {} };

/** Resolves when the call has been started and now waits for its end. */
const started = async ({ backend, settle }: Stage<Client20251125>, starts = 1): Promise<void> => {
  await eventually(() => backend.starts() === starts);
  await settle();
};

const inTime: Scenario<Client20251125> = {
  name: "unmarked-result-in-time",
  options: { waitMs },
  play: async (stage) => {
    const session = await stage.client.connect();
    const succeeding = await session.open("tools/call", call);
    await started(stage);
    await stage.clock.advance(5_000);
    stage.backend.of().succeed({ files: 14 });
    await succeeding.rest();
    const failing = await session.open("tools/call", call);
    await started(stage, 2);
    stage.backend.of().fail("exit code 2");
    await failing.rest();
  },
};

const handle: Scenario<Client20251125> = {
  name: "unmarked-handle",
  options: { waitMs },
  play: async (stage) => {
    const session = await stage.client.connect();
    const answer = await session.open("tools/call", { ...call, _meta: { progressToken: 7 } });
    await started(stage);
    stage.backend.of().progress({ done: 3, total: 10 });
    await stage.settle();
    await stage.clock.advance(1_000);
    await answer.next();
    await stage.clock.advance(waitMs - 1_000);
    const given = (await answer.rest()).at(-1)?.result?.structuredContent as { readonly taskId: string } | undefined;
    // The same task for who knows of tasks.
    await session.request("tasks/get", { taskId: given?.taskId });
  },
};

const forbidden: Scenario<Client20251125> = {
  name: "unmarked-call-of-what-is-never-a-task",
  options: { waitMs: 0, tools: [fakeTool("job", { task: { support: "forbidden" } })] },
  play: async (stage) => {
    const session = await stage.client.connect();
    const answer = await session.open("tools/call", call);
    await started(stage);
    await stage.clock.advance(60_000);
    stage.backend.of().succeed({ files: 14 });
    await answer.rest();
  },
};

/** Calls of clients that could have asked for a task and have not. */
export const unmarked20251125: readonly Scenario<Client20251125>[] = [inTime, handle, forbidden];

import { eventually } from "../serve.ts";
import type { Client20260728 } from "./client-2026-07-28.ts";
import { fakeTool, type Scenario, type Stage } from "./golden-wire.ts";

const waitMs = 30_000;
const call = { name: "job", arguments: {} };

/** Resolves when the call has been started and now waits for its end. */
const started = async ({ backend, settle }: Stage<Client20260728>, starts = 1): Promise<void> => {
  await eventually(() => backend.starts() === starts);
  await settle();
};

const inTime: Scenario<Client20260728> = {
  name: "result-in-time",
  options: { waitMs },
  play: async (stage) => {
    await stage.client.request("tools/list");
    const succeeding = stage.client.request("tools/call", call);
    await started(stage);
    await stage.clock.advance(5_000);
    stage.backend.of().succeed({ files: 14 });
    await succeeding;
    const failing = stage.client.request("tools/call", call);
    await started(stage, 2);
    stage.backend.of().fail("exit code 2");
    await failing;
  },
};

const handle: Scenario<Client20260728> = {
  name: "handle",
  options: { waitMs },
  play: async (stage) => {
    const answer = stage.client.request("tools/call", call);
    await started(stage);
    stage.backend.of().progress({ done: 3, total: 10 });
    await stage.settle();
    await stage.clock.advance(waitMs);
    await answer;
  },
};

const progress: Scenario<Client20260728> = {
  name: "progress",
  options: { waitMs },
  play: async (stage) => {
    const stream = stage.client.open("tools/call", call, { meta: { progressToken: "p" } });
    await started(stage);
    stage.backend.of().progress({ done: 3, total: 10, message: "packing" });
    await stage.settle();
    await stage.clock.advance(1_000);
    const reply = await stream;
    await reply.next();
    await stage.clock.advance(15_000);
    await reply.next();
    stage.backend.of().succeed({ files: 14 });
    await reply.rest();
  },
};

const question: Scenario<Client20260728> = {
  name: "question",
  options: { waitMs, fake: { onStart: (run) => run.ask({ message: "Delete 14 files?" }) } },
  play: async ({ client }) => {
    await client.request("tools/call", call, { capabilities: { elicitation: {} } });
  },
};

const required: Scenario<Client20260728> = {
  name: "error-task-required",
  options: { tools: [fakeTool("job", { task: { support: "required" } })] },
  play: async ({ client }) => {
    await client.request("tools/call", call);
  },
};

/** Hosts that know no tasks, by the revision 2026-07-28. */
export const scenariosNoTasks: readonly Scenario<Client20260728>[] = [inTime, handle, progress, question, required];

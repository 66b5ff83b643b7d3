import { eventually } from "../serve.ts";
import type { Client20251125 } from "./client-2025-11-25.ts";
import { companion } from "./companions-no-tasks.ts";
import type { Scenario } from "./golden-wire.ts";

const yes = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const call = { name: "job", arguments: {} };

const companions: Scenario<Client20251125> = {
  name: "unmarked-companions",
  options: { waitMs: 0 },
  play: async ({ client, backend, settle }) => {
    const session = await client.connect();
    await session.request("tools/list");
    const given = (await session.request("tools/call", call)).result?.structuredContent as { taskId: string };
    const { taskId } = given;
    await session.request("tools/call", companion("task_status", { taskId }));
    await session.request("tools/call", companion("task_status", { taskId: "made-up" }));
    await session.request("tools/call", { ...companion("task_status", { taskId }), task: {} });
    backend.of().succeed({ files: 14 });
    await settle();
    await session.request("tools/call", companion("task_result", { taskId }));
    await session.request("tools/call", companion("task_cancel", { taskId }));
  },
};

const question: Scenario<Client20251125> = {
  name: "unmarked-question",
  options: { waitMs: 30_000, fake: { onStart: (run) => run.ask({ message: "Delete 14 files?", schema: yes }) } },
  play: async ({ client, backend, clock, settle }) => {
    const session = await client.connect();
    const calling = await session.open("tools/call", call);
    const asked = await calling.next();
    await clock.advance(30_000);
    const given = (await calling.rest()).at(-1)?.result?.structuredContent as { readonly taskId: string };
    const status = await session.open(
      "tools/call",
      companion("task_status", { taskId: given.taskId, waitSeconds: 30 }),
    );
    await session.notify({ id: asked?.id, result: { action: "accept", content: { ok: true } } });
    await eventually(() => backend.of().answers.length === 1);
    await settle();
    backend.of().succeed("deleted");
    await settle();
    await status.rest();
  },
};

/** Companions, and a question whose dialog outlasts the call. */
export const companions20251125: readonly Scenario<Client20251125>[] = [companions, question];

import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "@jest/globals";
import { runsOn } from "../fake/script.ts";
import { until } from "../until.ts";
import { openLoad } from "./load-scene.ts";
import { startAll } from "./start-all.ts";

const running = 40;
/** `npm run soak` raises this to 8,000: the pauses have doubled thrice by then. */
const throttledMs = Number(process.env.TASKBRIDGE_LOAD_THROTTLED_MS ?? 2_500);

it("executions that are asked for while the quota is used up cost ever fewer calls, and clients are told to come less often (case 28)", async () => {
  const scene = await openLoad({ script: runsOn, sweepMs: 2_000 });
  const { fake, workflow, client } = scene;
  try {
    const taskIds = await startAll(client, running);
    const poll = async (): Promise<number> => {
      const tasks = await Promise.all(taskIds.map((taskId) => client.get(taskId)));
      return Math.max(...tasks.map(({ pollIntervalMs = 0 }) => pollIntervalMs));
    };
    // The first look, for which the client is loaded, takes long, and clients are told to wait for as long as looks take.
    const quiet = async (): Promise<number | undefined> => [await poll()].find((ms) => ms < 4_000);
    const before = await until("looks take no time", quiet, 40_000);
    fake.setFaults({ on: { "*": { kind: "error", code: "RESOURCE_EXHAUSTED" } } });
    const asked = (): number => fake.journal.calls.filter(({ status }) => status === 429).length;
    const startedAt = Date.now();
    let reported = 0;
    const isOver = (): boolean => Date.now() > startedAt + throttledMs && reported > before && asked() > 1;
    // The first look after the fault may come late where much else runs.
    while (!isOver() && Date.now() < startedAt + throttledMs + 30_000) {
      reported = Math.max(reported, await poll());
      await sleep(250);
    }
    process.stderr.write(
      `throttled: ${running} executions, polled for ${throttledMs} ms: ${asked()} calls, told to come back after ${before} and then ${reported} ms\n`,
    );
    // Not one call for each poll of each task, nor one a second: the pauses double.
    expect(asked()).toBeGreaterThan(1);
    expect(asked()).toBeLessThan(running);
    expect(reported).toBeGreaterThan(before);
    fake.setFaults({});
    for (const { name } of fake.executions(workflow)) fake.end(name, { state: "SUCCEEDED", result: "{}" });
    const areDone = async (): Promise<true | undefined> =>
      (await Promise.all(taskIds.map((taskId) => client.get(taskId)))).every(({ status }) => status === "completed") ||
      undefined;
    await until("all ends are noticed", areDone, 40_000, 250);
  } finally {
    await scene.close();
  }
}, 90_000);

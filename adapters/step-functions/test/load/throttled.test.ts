import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "@jest/globals";
import "../aws-environment.ts";
import { startFacade } from "../facade/facade.ts";
import { runsOn } from "../facade/script.ts";
import { startServer } from "../server-process.ts";
import { taskClient } from "../task-client.ts";
import { until } from "../until.ts";
import { startAll } from "./start-all.ts";

const running = 40;
/** `npm run soak` raises this to 8,000: the pauses have doubled thrice by then. */
const throttledMs = Number(process.env.TASKBRIDGE_LOAD_THROTTLED_MS ?? 2_500);

it("executions that are asked for while AWS throttles cost ever fewer calls, and clients are told to come less often (case 28)", async () => {
  const facade = await startFacade();
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-throttled-"));
  const machine = facade.machine("orders", runsOn);
  const server = await startServer(new URL("./load-server.mjs", import.meta.url), {
    FOLDER: folder,
    ENDPOINT: facade.endpoint,
    SWEEP_MS: "2000",
  });
  try {
    if (server === undefined) throw new Error("the server did not start");
    const client = taskClient(server.url);
    const taskIds = await startAll(client, running);
    const poll = async (): Promise<number> => {
      const tasks = await Promise.all(taskIds.map((taskId) => client.get(taskId)));
      return Math.max(...tasks.map(({ pollIntervalMs = 0 }) => pollIntervalMs));
    };
    const before = await poll();
    facade.setFaults({ throttles: () => true });

    const asked = (): number => Object.values(facade.counts).reduce((sum, { throttled }) => sum + throttled, 0);
    const startedAt = Date.now();
    let reported = 0;
    const isOver = (): boolean => Date.now() > startedAt + throttledMs && reported > before && asked() > 1;
    // The first look after the fault may come late where much else runs.
    while (!isOver() && Date.now() < startedAt + throttledMs + 30_000) {
      reported = Math.max(reported, await poll());
      await sleep(250);
    }
    // Not one call for each poll of each task, nor one a second: the pauses double.
    process.stderr.write(
      `throttled: ${running} executions, polled for ${throttledMs} ms: ${asked()} calls, told to come back after ${before} and then ${reported} ms\n`,
    );
    expect(asked()).toBeGreaterThan(1);
    expect(asked()).toBeLessThan(running);
    expect(reported).toBeGreaterThan(before);
    facade.setFaults({});
    for (const { arn } of facade.executions(machine)) facade.end(arn, { status: "SUCCEEDED", output: "{}" });
    const areDone = async (): Promise<true | undefined> =>
      (await Promise.all(taskIds.map((taskId) => client.get(taskId)))).every(({ status }) => status === "completed") ||
      undefined;
    await until("all ends are noticed", areDone, 40_000, 250);
  } finally {
    server?.signal("SIGKILL");
    await server?.gone;
    await facade.close();
    await rm(folder, { recursive: true, force: true });
  }
}, 90_000);

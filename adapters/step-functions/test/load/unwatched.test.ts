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

const running = 100;
const sweepMs = 4_000;
const sweeps = 2;

it(`${running} executions that nobody watches cost a list for each sweep`, async () => {
  const facade = await startFacade();
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-unwatched-"));
  facade.machine("orders", runsOn);
  const server = await startServer(new URL("./load-server.mjs", import.meta.url), {
    FOLDER: folder,
    ENDPOINT: facade.endpoint,
    SWEEP_MS: String(sweepMs),
  });
  try {
    if (server === undefined) throw new Error("the server did not start");
    const client = taskClient(server.url);
    await Promise.all(Array.from({ length: running }, (_, n) => client.start("work", { n })));
    // What follows a start at once is over.
    await sleep(1_500);
    const since = Date.now();
    await sleep(sweeps * sweepMs);
    const count = (name: string): number =>
      facade.requests.filter(({ action, at }) => action === name && at >= since).length;
    const calls = ["ListExecutions", "DescribeExecution", "GetExecutionHistory"].map(count);
    process.stderr.write(
      `unwatched: ${running} executions, ${sweeps} sweeps: lists, descriptions, histories: ${calls.join(", ")}\n`,
    );
    const [lists = 0, described = 0, histories = 0] = calls;
    expect(lists).toBeGreaterThan(0);
    expect(lists).toBeLessThanOrEqual(2 * sweeps);
    expect(described).toBeLessThanOrEqual(sweeps);
    expect(histories).toBeLessThanOrEqual(running * (sweeps + 1));
  } finally {
    server?.signal("SIGKILL");
    await server?.gone;
    await facade.close();
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);

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

/** `npm run soak` raises these to 2,000 and 20,000. */
const running = Number(process.env.TASKBRIDGE_LOAD_UNWATCHED ?? 60);
const sweepMs = Number(process.env.TASKBRIDGE_LOAD_SWEEP_MS ?? 1_500);
const sweeps = 2;
/** So many go into one look, of which each may list all; a page of a list holds as many. */
const lists = Math.ceil(running / 1_000) ** 2;
/** As many as `maxInspectCallsPerMinute` lets be looked at in detail. */
const histories = Math.min(running, Math.max(1, Math.floor((100 * sweepMs) / 60_000)));

it(`${running} executions that nobody watches cost a list and a few histories for each sweep`, async () => {
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
    await startAll(client, running);
    // What follows a start at once is over.
    await sleep(1_500);
    const since = Date.now();
    await sleep(sweeps * sweepMs);
    const count = (name: string): number =>
      facade.requests.filter(({ action, at }) => action === name && at >= since).length;
    // On a busy machine a sweep takes longer than it should.
    const hasSwept = (): boolean => count("ListExecutions") > 0 && count("GetExecutionHistory") > 0;
    await until("a sweep is over", async () => hasSwept() || undefined, 60_000);
    const passed = Math.ceil((Date.now() - since) / sweepMs);
    // One may have begun before.
    const begun = passed + 1;
    const calls = ["ListExecutions", "DescribeExecution", "GetExecutionHistory"].map(count);
    process.stderr.write(
      `unwatched: ${running} executions, ${passed} times ${sweepMs} ms: lists, descriptions, histories: ${calls.join(", ")}\n`,
    );
    const [listed = 0, described = 0, read = 0] = calls;
    expect(listed).toBeLessThanOrEqual(begun * lists);
    expect(described).toBeLessThanOrEqual(passed);
    expect(read).toBeLessThanOrEqual(begun * histories);
  } finally {
    server?.signal("SIGKILL");
    await server?.gone;
    await facade.close();
    await rm(folder, { recursive: true, force: true });
  }
}, 240_000);

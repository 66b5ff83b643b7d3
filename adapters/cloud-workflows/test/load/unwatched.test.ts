import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "@jest/globals";
import { runsOn } from "../fake/script.ts";
import { until } from "../until.ts";
import { openLoad } from "./load-scene.ts";
import { startAll } from "./start-all.ts";

/** `npm run soak` raises these to 2,000 and 20,000. */
const running = Number(process.env.TASKBRIDGE_LOAD_UNWATCHED ?? 60);
const sweepMs = Number(process.env.TASKBRIDGE_LOAD_SWEEP_MS ?? 1_500);
const sweeps = 2;

it(`${running} executions that nobody watches cost far fewer calls than one each`, async () => {
  const scene = await openLoad({ script: runsOn, sweepMs });
  const { fake, client } = scene;
  try {
    await startAll(client, running);
    // What follows a start at once is over.
    await sleep(1_500);
    const since = Date.now();
    await sleep(sweeps * sweepMs);
    const count = (method: "getExecution" | "listExecutions" | "listCallbacks"): number =>
      fake.journal.count(method, since).asked;
    // On a busy machine a sweep takes longer than it should.
    await until("a sweep is over", async () => count("listExecutions") > 0 || undefined, 60_000);
    const passed = Math.ceil((Date.now() - since) / sweepMs);
    const [listed, got, details] = [count("listExecutions"), count("getExecution"), count("listCallbacks")];
    process.stderr.write(
      `unwatched: ${running} executions, ${passed} times ${sweepMs} ms: lists, gets, lists of callbacks: ${[listed, got, details].join(", ")}\n`,
    );
    expect(listed).toBeGreaterThan(0);
    expect(listed + got).toBeLessThan((running * passed) / 3);
  } finally {
    await scene.close();
  }
}, 240_000);

import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "@jest/globals";
import { describeRedis, until } from "../redis-bench.ts";
import { finishedAt, type LoadBench, loadBench } from "./load-bench.ts";
import { percentile, toText } from "./percentile.ts";

/** `npm run soak` raises it to 1,000, which takes 10 seconds. */
const completions = Number(process.env.TASKBRIDGE_LOAD_COMPLETIONS ?? 300);
const everyMs = 10;

/** Cuts the connection on which the server waits for events. Gives how many there were. */
const cutEvents = async ({ bench }: LoadBench): Promise<number> => {
  const clients = String(await bench.redis.client("LIST")).split("\n");
  const ids = clients.filter((line) => line.includes("cmd=xread")).map((line) => /id=(\d+)/.exec(line)?.[1] ?? "");
  for (const id of ids) await bench.redis.client("KILL", "ID", id);
  return ids.length;
};

describeRedis(
  "completions pushed to clients",
  () => {
    it(`tells ${completions} ends at 100 a second at once, and none is lost over a drop of the event connection`, async () => {
      const load = await loadBench({ jobs: completions, push: "on" });
      try {
        const before = await load.idle();
        const at = Date.now() + 500;
        load.release(at, everyMs);
        const droppedAt = at + (completions * everyMs) / 2;
        await sleep(droppedAt - Date.now());
        const cut = await until("the server waits for events", async () => (await cutEvents(load)) || undefined);
        await load.streamsEnded;
        const idle = await load.idle();
        const ends = [...load.seen.values()].map((frames) => frames.at(-1));
        const completed = ends.flatMap((end) => (end?.task.status === "completed" ? [end] : []));
        const delays = completed.map(({ task, at: seenAt }) => seenAt - finishedAt(task));
        const overDrop = completed
          .filter(({ task }) => Math.abs(finishedAt(task) - droppedAt) < 1_000)
          .map(({ task, at: seenAt }) => seenAt - finishedAt(task));
        process.stderr.write(
          `push: ${delays.length} of ${completions} ends in ${(completions * everyMs) / 1000} s, from the worker's finish to the client's frame ${toText(delays)}; ` +
            `within a second of the drop (${cut} connection) ${toText(overDrop)}; timers of an idle process late by ${toText(idle)} (before: ${toText(before)})\n`,
        );
        expect(delays).toHaveLength(completions);
        expect(percentile(delays, 0.5)).toBeLessThan(20 + percentile(idle, 0.5));
        expect(percentile(delays, 0.99)).toBeLessThan(100 + percentile(idle, 0.99));
      } finally {
        await load.close();
      }
    }, 120_000);
  },
  true,
);

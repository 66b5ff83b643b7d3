import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "@jest/globals";
import { type FaultProxy, startFaultProxy } from "@taskbridge/services/fault-proxy";
import { describeRedis, type RedisBench } from "../redis-bench.ts";
import { finishedAt, type LoadBench, loadBench } from "./load-bench.ts";
import { percentile, toText } from "./percentile.ts";

/** `npm run soak` raises these to 10,000 and 6,000. */
const jobs = Number(process.env.TASKBRIDGE_LOAD_RUNNING ?? 200);
const watchedMs = Number(process.env.TASKBRIDGE_LOAD_WATCHED_MS ?? 3_000);
/** Between two ends. */
const everyMs = 6;

/** Scripts that Redis has run for anybody. */
const scriptsRun = async ({ redis }: RedisBench): Promise<number> => {
  const stats = String(await redis.info("commandstats"));
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
};

/** Watches for a while in which nothing ends. */
const countTrips = async (bench: RedisBench, proxy: FaultProxy): Promise<{ trips: number; scripts: number }> => {
  const before = { trips: proxy.roundTrips, scripts: await scriptsRun(bench) };
  await sleep(watchedMs);
  const perSecond = (count: number): number => (count * 1_000) / watchedMs;
  return {
    trips: perSecond(proxy.roundTrips - before.trips),
    scripts: perSecond((await scriptsRun(bench)) - before.scripts),
  };
};

/** What clients are told while jobs end: asked of the job that ends last. */
const sampleIntervals = async (
  { client, seen, streamsEnded }: LoadBench,
  lastMs: number,
): Promise<readonly { readonly at: number; readonly intervalMs: number }[]> => {
  const taskId = seen.get(jobs - 1)?.[0]?.task.taskId ?? "";
  const samples: { at: number; intervalMs: number }[] = [];
  const ended = streamsEnded.then(() => true);
  const until = Date.now() + lastMs;
  do {
    const at = Date.now();
    const { pollIntervalMs } = await client.get(taskId);
    if (pollIntervalMs !== undefined) samples.push({ at, intervalMs: pollIntervalMs });
  } while (!(await Promise.race([ended, sleep(1_000, false, { ref: false })])) && Date.now() < until);
  return samples;
};

/** How late each end was noticed: in milliseconds, and as a share of the interval that clients were told of before it. */
const toLateness = (
  { seen }: LoadBench,
  samples: Awaited<ReturnType<typeof sampleIntervals>>,
): readonly { readonly intervals: number; readonly ms: number; readonly intervalMs: number }[] =>
  [...seen.values()].flatMap((frames) => {
    const last = frames.at(-1);
    if (last?.task.status !== "completed") return [];
    const endedAt = finishedAt(last.task);
    const { intervalMs } = samples.findLast(({ at }) => at <= endedAt) ?? samples[0] ?? { intervalMs: Number.NaN };
    return [{ ms: last.at - endedAt, intervals: (last.at - endedAt) / intervalMs, intervalMs }];
  });

const toRange = (late: ReturnType<typeof toLateness>): string => {
  const intervals = late.map(({ intervalMs }) => intervalMs);
  return `${Math.min(...intervals)} to ${Math.max(...intervals)}`;
};

describeRedis("running jobs of which no events come", () => {
  it(`${jobs} of them, all watched by clients, cost under 20 round trips a second, and each end is noticed within two intervals`, async () => {
    let proxy: FaultProxy | undefined;
    const load = await loadBench({
      jobs,
      push: "off",
      url: async ({ url }) => {
        const { hostname, port } = new URL(url);
        proxy = await startFaultProxy({ host: hostname, port: Number(port) });
        return `redis://${proxy.host}:${proxy.port}`;
      },
    });
    try {
      const { trips, scripts } = await countTrips(load.bench, proxy as FaultProxy);
      const starvedBefore = await load.starvedMs();
      await load.idle();
      load.release(Date.now(), everyMs);
      const samples = await sampleIntervals(load, jobs * everyMs + 60_000);
      const starved = (await load.starvedMs()) - starvedBefore;
      const idle = await load.idle();
      const late = toLateness(load, samples);
      const intervals = late.map((end) => end.intervals);
      process.stderr.write(
        `sweep: ${jobs} jobs watched, ${trips.toFixed(1)} round trips a second (${scripts.toFixed(1)} scripts, those of the worker among them); ` +
          `${late.length} ends noticed after ${toText(late.map(({ ms }) => ms))}, p99 ${percentile(intervals, 0.99).toFixed(2)} and at most ${percentile(intervals, 1).toFixed(2)} of the advertised interval (${toRange(late)} ms); ` +
          `timers of an idle process late by ${toText(idle)}; the server waited ${starved.toFixed(0)} ms for a processor\n`,
      );
      expect(trips).toBeGreaterThan(0);
      expect(trips).toBeLessThan(20);
      expect(late).toHaveLength(jobs);
      // What the machine does to a process that has nothing to do is not ours.
      const allowedMs = percentile(idle, 1);
      expect(late.filter(({ ms, intervalMs }) => ms > 2 * intervalMs + allowedMs)).toHaveLength(0);
    } finally {
      await load.close();
      await proxy?.close();
    }
  }, 590_000);
});

import {
  asStartKey,
  type ExecutionUpdate,
  isEnded,
  type Subscription,
  type WatchRequest,
} from "@taskbridge/core/adapter";
import type { ChangeFeed } from "./change-feed.ts";
import { toRef } from "./execution-ref.ts";
import { inspectJob, readStage } from "./inspect-job.ts";
import { jobFolder } from "./job-folder.ts";

const batch = 100;
/** Pause (milliseconds) after the sink has refused. */
const retryMs = 1000;
/** How often (milliseconds) to look whether supervisors still live: one that was killed cannot tell. */
const aliveMs = 2000;

export interface WatchTools {
  readonly directory: string;
  readonly feed: ChangeFeed;
  warn(message: string): void;
}

const readUpdate = async (directory: string, key: string): Promise<ExecutionUpdate> => {
  const named = { key: asStartKey(key), ref: toRef(key) };
  const outcome = await inspectJob(directory, key, "status").catch(() => undefined);
  return outcome !== undefined && "snapshot" in outcome ? { ...named, snapshot: outcome.snapshot } : named;
};

/** Hands on what changes, in batches, one at a time; changes of one job that come meanwhile are one. */
export const watchJobs = (
  { directory, feed, warn }: WatchTools,
  running: readonly string[],
  sink: WatchRequest<unknown>["sink"],
): Subscription => {
  const changed = new Set<string>(running);
  const alive = new Set<string>();
  let isClosed = false;
  let pumping: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;

  const handOn = async (keys: readonly string[]): Promise<void> => {
    for (const key of keys) changed.delete(key);
    const updates = await Promise.all(keys.map((key) => readUpdate(directory, key)));
    updates.forEach(({ snapshot }, index) => {
      const key = keys[index] as string;
      if (snapshot === undefined || isEnded(snapshot.status)) alive.delete(key);
      else alive.add(key);
    });
    await sink(updates);
  };
  const pump = async (): Promise<void> => {
    while (changed.size > 0 && !isClosed) {
      const keys = [...changed].slice(0, batch);
      try {
        await handOn(keys);
      } catch (error) {
        warn(`updates refused, trying again: ${error instanceof Error ? error.message : String(error)}`);
        for (const key of keys) changed.add(key);
        retry = setTimeout(() => {
          retry = undefined;
          start();
        }, retryMs);
        return;
      }
    }
  };
  const start = (): void => {
    if (isClosed || retry !== undefined || pumping !== undefined) return;
    pumping = pump().finally(() => {
      pumping = undefined;
    });
  };
  const lookForDeaths = async (): Promise<void> => {
    for (const key of alive) {
      const stage = await readStage(jobFolder(directory, key)).catch(() => undefined);
      if (stage?.kind !== "lost" && stage?.kind !== "orphaned") continue;
      alive.delete(key);
      changed.add(key);
    }
    start();
  };

  const timer = setInterval(() => void lookForDeaths(), aliveMs);
  const silence = feed.listen((key) => {
    changed.add(key);
    start();
  });
  start();
  return {
    async close() {
      isClosed = true;
      clearInterval(timer);
      clearTimeout(retry);
      silence();
      await pumping;
    },
  };
};

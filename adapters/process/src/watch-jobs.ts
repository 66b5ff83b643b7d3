import {
  asStartKey,
  type ExecutionUpdate,
  isEnded,
  type StartKey,
  type Subscription,
  type WatchRequest,
} from "@taskbridge/core/adapter";
import type { ChangeFeed } from "./change-feed.ts";
import { toRef } from "./execution-ref.ts";
import { type JobStage, readSnapshot, readStage } from "./inspect-job.ts";
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

type JobUpdate = ExecutionUpdate & { readonly key: StartKey };

/**
 * Undefined for a start that is under way or was refused: its caller hears which, and whoever was told of an execution
 * before would take the start for accepted. The first record of a command that was spawned is a change of its own.
 */
const readUpdate = async (directory: string, key: string): Promise<JobUpdate | undefined> => {
  const named = { key: asStartKey(key), ref: toRef(key) };
  const folder = jobFolder(directory, key);
  try {
    const stage = await readStage(folder);
    if (!hasBegun(stage)) return undefined;
    const snapshot = await readSnapshot(folder, stage);
    return snapshot === undefined ? named : { ...named, snapshot };
  } catch {
    return named;
  }
};

const hasBegun = (stage: JobStage): boolean => {
  if (stage.kind === "running") return stage.state !== undefined;
  return stage.kind === "ended" ? stage.end.refusal === undefined : stage.kind !== "unrun";
};

/** Hands on what changes, in batches, one at a time; changes of one job that come meanwhile are one. */
export const watchJobs = (
  { directory, feed, warn }: WatchTools,
  running: readonly string[],
  sink: WatchRequest<unknown>["sink"],
): Subscription => {
  const changed = new Set<string>(running);
  const alive = new Set<StartKey>();
  let isClosed = false;
  let pumping: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;

  const handOn = async (keys: readonly string[]): Promise<void> => {
    for (const key of keys) changed.delete(key);
    const read = await Promise.all(keys.map((key) => readUpdate(directory, key)));
    const updates = read.filter((update) => update !== undefined);
    for (const { key, snapshot } of updates) {
      if (snapshot === undefined || isEnded(snapshot.status)) alive.delete(key);
      else alive.add(key);
    }
    if (updates.length > 0) await sink(updates);
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
  const checkDeaths = async (): Promise<void> => {
    for (const key of alive) {
      const stage = await readStage(jobFolder(directory, key)).catch(() => undefined);
      if (stage?.kind !== "lost" && stage?.kind !== "orphaned") continue;
      alive.delete(key);
      changed.add(key);
    }
    start();
  };

  const timer = setInterval(() => void checkDeaths(), aliveMs);
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

import { unlessAborted } from "@taskbridge/core/adapter";
import type { StoreDescription, TaskStore } from "@taskbridge/core/store";
import { formatCount } from "../terminal/format-task.ts";

export interface StoreFinding {
  readonly level: "ok" | "warning";
  readonly message: string;
}

export interface StoreChecking {
  readonly store: TaskStore;
  /** It is lost with its process. */
  readonly isMemory: boolean;
  readonly timeoutMs: number;
}

/** Operations that take longer make every poll slow (milliseconds). */
const slowMs = 250;
/** Clocks that differ by less are kept in step as well as clocks are (milliseconds). */
const skewMs = 2_000;

/** Reads and writes a store and says how it fares. Rejects with the store's own error, or when it says nothing for so long. */
export const checkStore = async ({ store, isMemory, timeoutMs }: StoreChecking): Promise<readonly StoreFinding[]> => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    // A lease is a write like any other: it shows a lock, a full disk, a read-only file. Its way back is another.
    const written = await timed(late.signal, async () =>
      (await store.lease(`doctor:${process.pid}`, 1_000))?.release(),
    );
    const skew = store.now() - Date.now();
    const page = (): ReturnType<TaskStore["list"]> =>
      store.list({ operator: true }, { slotHeld: true }, undefined, 100);
    const read = await timed(late.signal, page);
    const description = await unlessAborted(late.signal, Promise.resolve(store.describe?.()));
    const { records } = read.value;
    const count = records.length === 100 ? "100 or more tasks" : formatCount(records.length, "task");
    const times = `read in ${read.ms} ms and written in ${written.ms} ms`;
    const survives = description?.warning === undefined ? ", survives restarts" : "";
    return [
      ...(description === undefined ? [] : describe(description)),
      isMemory
        ? { level: "warning", message: "memory: loses every task when the server ends" }
        : { level: "ok", message: `can be ${times}${survives}; ${count} under way` },
      ...(Math.max(read.ms, written.ms) > slowMs ? [slow] : []),
      ...(Math.abs(skew) > skewMs ? [{ level: "warning" as const, message: describeSkew(skew) }] : []),
    ];
  } finally {
    clearTimeout(timer);
  }
};

/** `PostgreSQL 16.4 at db:5432, database tasks, schema taskbridge; synchronous_commit = on`, and what that may cost. */
const describe = ({ kind, location, database, namespace, durability, warning }: StoreDescription): StoreFinding[] => {
  const where = [
    `${kind} at ${location}`,
    ...(database === undefined ? [] : [`database ${database}`]),
    ...(namespace === undefined ? [] : [namespace]),
  ].join(", ");
  const finding: StoreFinding = {
    level: "ok",
    message: `${where}; ${durability ?? "it does not tell how durable it is"}`,
  };
  return warning === undefined ? [finding] : [finding, { level: "warning", message: warning }];
};

const slow: StoreFinding = {
  level: "warning",
  message: `takes more than ${slowMs} ms to answer, and each poll of each client waits for it; keep it near the servers`,
};

const describeSkew = (skew: number): string => {
  const seconds = Math.round(Math.abs(skew) / 1_000);
  const how = skew > 0 ? "ahead of" : "behind";
  return `its clock is ${seconds} s ${how} this machine's; deadlines and retention go by the store's, times of logs by the machine's`;
};

const timed = async <Value>(
  signal: AbortSignal,
  work: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly ms: number }> => {
  const startedAt = performance.now();
  const value = await unlessAborted(signal, work());
  return { value, ms: Math.ceil(performance.now() - startedAt) };
};

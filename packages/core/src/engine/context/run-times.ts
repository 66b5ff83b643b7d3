import type { TaskRecord } from "../../contract/task-record.ts";
import type { ResolvedTool } from "./tool-definition.ts";

/** How long runs of each tool take, so that polling can aim at their end. */
export interface RunTimes {
  /** Remembers how long a task ran that has just ended. Only runs that succeeded count: others stop anywhere. */
  note(record: TaskRecord): void;
  /** When a task is expected to end, by its tool's `expectedMs` or else by the median of the last runs (epoch milliseconds). */
  expectedEndAt(record: TaskRecord): number | undefined;
}

/** The runs remembered of one tool. */
const maxRuns = 20;

export const runTimes = (tools: ReadonlyMap<string, ResolvedTool>): RunTimes => {
  const runs = new Map<string, readonly number[]>();
  const begunAt = (record: TaskRecord): number => record.begunAt ?? record.createdAt;
  const medianOf = (times: readonly number[] = []): number | undefined =>
    times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)];
  return {
    note: (record) => {
      if (record.state !== "succeeded" || record.endedAt === undefined) return;
      const before = runs.get(record.tool) ?? [];
      runs.set(record.tool, [...before, record.endedAt - begunAt(record)].slice(-maxRuns));
    },
    expectedEndAt: (record) => {
      if (record.endedAt !== undefined) return undefined;
      const expectedMs = tools.get(record.tool)?.task.expectedMs ?? medianOf(runs.get(record.tool));
      return expectedMs === undefined ? undefined : begunAt(record) + expectedMs;
    },
  };
};

import type { TaskDriver } from "../clients/task-driver.ts";
import { toFailure } from "../clients/to-failure.ts";

/** What became of the calls of our own client, which repeats by itself what may be repeated. */
export interface OurCalls {
  done: number;
  /** Calls that came to no result, or to another than their own. */
  readonly failed: string[];
}

/** Calls a tool and reads its result, one call after the other. */
export const callOn = async (driver: TaskDriver, name: string, calls: OurCalls, signal: AbortSignal): Promise<void> => {
  for (let turn = 1; !signal.aborted; turn++) {
    const call = `${name}-${turn}`;
    try {
      const begun = await driver.start(turn % 2 === 0 ? "quick" : "slow", { call, ms: 1_000 });
      const result = "result" in begun ? begun.result : await resultOf(driver, begun.taskId);
      if (result.isError || !result.text.includes(`"${call}"`)) calls.failed.push(`${call} came to ${result.text}`);
      else calls.done += 1;
    } catch (error) {
      const { kind, why } = toFailure(error);
      calls.failed.push(`${call}: ${kind}: ${why}`);
    }
  }
  await driver.close();
};

/** A driver waits for a while only. */
const resultOf = async (driver: TaskDriver, taskId: string): Promise<{ text: string; isError: boolean }> => {
  for (;;) {
    const result = await driver.result(taskId);
    if (result !== undefined) return result;
  }
};

import { BridgeError } from "@taskbridge/core";
import { memoryStore } from "@taskbridge/core/memory";
import type { TaskStore } from "@taskbridge/core/store";

/** A store that can be away. */
export interface Outage {
  readonly store: TaskStore;
  /**
   * From now on every operation fails as `unavailable`: at once (`refuses`), or after the time that the store gives itself
   * (`hangs`), whether it is back by then or not.
   */
  begin(how: "refuses" | "hangs"): void;
  end(): void;
}

/** The time that a store gives an operation here (milliseconds). Longer than a probe waits. */
const operationMs = 1_500;

const outside: ReadonlySet<string> = new Set(["now", "watch", "close"]);

export const withOutages = (stored: TaskStore = memoryStore()): Outage => {
  let away: "refuses" | "hangs" | undefined;
  const fail = async (how: "refuses" | "hangs", operation: string): Promise<never> => {
    if (how === "hangs") await new Promise((resolve) => setTimeout(resolve, operationMs).unref());
    throw new BridgeError("unavailable", "10.1.2.3:6379 does not answer (ECONNREFUSED)", { operation });
  };
  const guarded = Object.entries(stored).map(([verb, own]) => {
    if (typeof own !== "function" || outside.has(verb)) return [verb, own];
    return [verb, (...given: unknown[]) => (away === undefined ? own(...given) : fail(away, verb))];
  });
  return {
    store: Object.fromEntries(guarded) as TaskStore,
    begin: (how) => {
      away = how;
    },
    end: () => {
      away = undefined;
    },
  };
};

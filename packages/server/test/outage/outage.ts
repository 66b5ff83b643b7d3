import { BridgeError, type Clock, systemClock } from "@taskbridge/core";
import { memoryStore } from "@taskbridge/core/memory";
import type { TaskStore } from "@taskbridge/core/store";

/** A store that can be away. */
export interface Outage {
  readonly store: TaskStore;
  /**
   * From now on operations fail as `unavailable`, all or these: at once (`refuses`), or after the time that the store gives
   * itself (`hangs`), whether it is back by then or not.
   */
  begin(how: "refuses" | "hangs", only?: readonly string[]): void;
  end(): void;
  /** How often it was asked in vain since the last beginning. */
  readonly refused: number;
}

/** The time that a store gives an operation here (milliseconds). Longer than a probe waits. */
const operationMs = 1_500;

const outside: ReadonlySet<string> = new Set(["now", "watch", "close"]);

export const withOutages = (clock: Clock = systemClock): Outage => {
  const stored = memoryStore({ clock });
  let unavailable: { readonly how: "refuses" | "hangs"; readonly only: readonly string[] | undefined } | undefined;
  let refused = 0;
  const fail = async (operation: string): Promise<never> => {
    refused++;
    if (unavailable?.how === "hangs") await new Promise<void>((resolve) => void clock.schedule(operationMs, resolve));
    throw new BridgeError("unavailable", "10.1.2.3:6379 does not answer (ECONNREFUSED)", { operation });
  };
  const guard = (verbs: object): object =>
    Object.fromEntries(
      Object.entries(verbs).map(([verb, own]) => {
        if (typeof own !== "function" || outside.has(verb)) return [verb, own];
        const isUnavailable = (): boolean => unavailable !== undefined && (unavailable.only?.includes(verb) ?? true);
        return [verb, (...given: unknown[]) => (isUnavailable() ? fail(verb) : own(...given))];
      }),
    );
  return {
    store: guard({ ...stored, values: guard(stored.values) }) as TaskStore,
    begin: (how, only) => {
      unavailable = { how, only };
      refused = 0;
    },
    end: () => {
      unavailable = undefined;
    },
    get refused() {
      return refused;
    },
  };
};

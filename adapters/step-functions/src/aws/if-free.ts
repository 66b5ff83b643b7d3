import { BridgeError } from "@taskbridge/core/adapter";
import type { InTurn } from "./in-turn.ts";

/** At most so many at once. What finds no place is refused: a start that waited here would be taken for one that runs. */
export const ifFree = (max: number, what: string): InTurn => {
  let running = 0;
  return async (work) => {
    if (running >= max)
      throw new BridgeError("limit_exceeded", `${max} ${what} at once, and no more`, {
        notSent: true,
        retryAfterMs: 1_000,
      });
    running++;
    try {
      return await work();
    } finally {
      running--;
    }
  };
};

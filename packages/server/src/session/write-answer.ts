import { toBridgeError } from "@taskbridge/core";
import type { ServeContext } from "../mcp/serve-context.ts";

/** How often an answer that cannot be written down is tried again, and after how long (milliseconds). */
const maxWrites = 20;
const rewriteMs = 500;

/** What a person has said is not dropped because the store fails for a moment, nor because the client has left since. */
export const writeAnswer = async (
  { clock, stopping }: Pick<ServeContext, "clock" | "stopping">,
  work: () => Promise<unknown>,
): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      const willPass = ["unavailable", "throttled", "outcome_unknown"].includes(toBridgeError(error).code);
      if (!willPass || attempt >= maxWrites || stopping.aborted) throw error;
      await new Promise<void>((resolve) => void clock.schedule(rewriteMs, resolve));
    }
  }
};

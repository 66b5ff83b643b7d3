import { isBridgeError, toBridgeError } from "./contract/bridge-error.ts";
import { within } from "./contract/wait.ts";
import type { CallContext, InspectItem, InspectOutcome } from "./contract/workflow-adapter.ts";

/** How `inspectEach` spreads single look-ups. */
export interface InspectEachOptions {
  /** Look-ups under way at once. */
  readonly concurrency: number;
  /** Milliseconds after which one look-up is given up as `unavailable`, while the others go on. */
  readonly timeoutMs: number;
}

/**
 * Makes a batched `inspect` out of a look-up of one execution, for backends that have no other. Every item gets its own
 * timeout and its own outcome, in the order of the items.
 */
export const inspectEach =
  (lookup: (item: InspectItem, context: CallContext) => Promise<InspectOutcome>, options: InspectEachOptions) =>
  async (items: readonly InspectItem[], context: CallContext): Promise<readonly InspectOutcome[]> => {
    const outcomes: InspectOutcome[] = new Array(items.length);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < items.length; index = next++) {
        outcomes[index] = await lookupInTime(lookup, items[index] as InspectItem, context, options.timeoutMs);
      }
    };
    await Promise.all(Array.from({ length: Math.min(options.concurrency, items.length) }, work));
    return outcomes;
  };

const lookupInTime = async (
  lookup: (item: InspectItem, context: CallContext) => Promise<InspectOutcome>,
  item: InspectItem,
  context: CallContext,
  timeoutMs: number,
): Promise<InspectOutcome> => {
  const timeout = new AbortController();
  const signal = AbortSignal.any([context.signal, timeout.signal]);
  try {
    const outcome = await within(lookup(item, { ...context, signal }), timeoutMs);
    if (outcome !== undefined) return outcome;
    timeout.abort();
    return { unavailable: `no answer within ${timeoutMs} ms` };
  } catch (error) {
    const known = toBridgeError(error, { operation: "inspect" });
    if (isBridgeError(error) && (known.code === "unavailable" || known.code === "throttled")) {
      return {
        unavailable: known.message,
        ...(known.retryAfterMs === undefined ? {} : { retryAfterMs: known.retryAfterMs }),
      };
    }
    return { error: known };
  }
};

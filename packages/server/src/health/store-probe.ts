import { type Clock, within } from "@taskbridge/core";
import type { TaskStore } from "@taskbridge/core/store";
import type { ServerLog } from "../server-log.ts";

export interface StoreHealth {
  readonly answers: boolean;
  /** For how long it has been known not to answer. 0: it answers. Infinite: it has not answered yet. */
  readonly unavailableForMs: number;
}

export interface StoreProbe {
  /** Has the store probe itself, or reads from a store that cannot, at most once a second however many ask here. Never rejects. */
  ask(): Promise<StoreHealth>;
}

export interface StoreProbeParts {
  readonly store: Pick<TaskStore, "probe" | "values">;
  readonly clock: Clock;
  readonly log: ServerLog;
}

/** What takes longer is no answer (milliseconds). Probes themselves wait for one second, unless told otherwise. */
const timeoutMs = 900;
/** An answer serves everybody who asks within this time of the question (milliseconds). */
const freshMs = 1_000;
/** Nothing is ever kept under this name: what counts is that the store says so. */
const name = "health";

export const createStoreProbe = ({ store, clock, log }: StoreProbeParts): StoreProbe => {
  let unavailableSince: number | undefined = Number.NEGATIVE_INFINITY;
  let isOutageReported = false;
  let asked: { readonly at: number; readonly health: Promise<StoreHealth> } | undefined;

  const note = (fault: unknown): StoreHealth => {
    if (fault === undefined) {
      if (isOutageReported) log.info({}, "the store answers again");
      unavailableSince = undefined;
      isOutageReported = false;
      return { answers: true, unavailableForMs: 0 };
    }
    if (!isOutageReported) log.warn({ err: fault }, "the store does not answer");
    isOutageReported = true;
    unavailableSince ??= clock.now();
    return { answers: false, unavailableForMs: clock.now() - unavailableSince };
  };
  const probe = async (): Promise<StoreHealth> => {
    const outcome = await within(
      faultOf(store).then((fault) => ({ fault })),
      timeoutMs,
      { clock },
    );
    return note(outcome === undefined ? new Error(`no answer within ${timeoutMs} ms`) : outcome.fault);
  };
  return {
    ask: () => {
      const now = clock.now();
      if (asked === undefined || now - asked.at >= freshMs || now < asked.at) asked = { at: now, health: probe() };
      return asked.health;
    },
  };
};

/** Why the store cannot serve, or undefined. */
const faultOf = async (store: StoreProbeParts["store"]): Promise<unknown> => {
  try {
    await (store.probe?.() ?? store.values.read(name));
    return undefined;
  } catch (error) {
    return error ?? new Error("the store failed");
  }
};

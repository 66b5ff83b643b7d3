import { BridgeError, toBridgeError } from "../../contract/bridge-error.ts";
import type { AdapterId } from "../../contract/identity.ts";
import type { Subscription, WatchRequest, WorkflowAdapter } from "../../contract/workflow-adapter.ts";
import { callAdapter } from "../context/call-adapter.ts";
import type { EngineContext } from "../context/engine-context.ts";
import { type LedWork, leadership, type Service, soleLead } from "../context/leadership.ts";
import { untilStored } from "../context/until-stored.ts";
import { backOffMs } from "../state/effects.ts";
import { applyUpdates } from "./apply-updates.ts";

/** A subscription that held at least this long (milliseconds) was a good one. */
const lastingMs = 60_000;
/** How long a store that is away is waited for (milliseconds) before it is tried from the beginning. */
const storeUnavailableMs = 600_000;

export interface AdapterWatcher extends Service {
  /** Whether this adapter can push and its subscription could not be made, or has ended and is not there again. */
  isCutOff(adapterId: AdapterId): boolean;
}

/**
 * Keeps one subscription per adapter that can push, renewed whenever it ends: in one process of all that share the store,
 * which hands over to another when it stops.
 */
export const adapterWatcher = (engine: EngineContext): AdapterWatcher => {
  const watches = new Map(
    [...engine.adapters]
      .filter(([, adapter]) => adapter.watch !== undefined)
      .map(([adapterId, adapter]) => [adapterId, watchAdapter(engine, adapterId, adapter)]),
  );
  return {
    isCutOff: (adapterId) => watches.get(adapterId)?.isCutOff() === true,
    start: () => {
      for (const watch of watches.values()) watch.start();
    },
    stop: async () => void (await Promise.all([...watches.values()].map((watch) => watch.stop()))),
  };
};

interface AdapterWatch extends Service {
  isCutOff(): boolean;
}

const watchAdapter = (engine: EngineContext, adapterId: AdapterId, adapter: WorkflowAdapter): AdapterWatch => {
  let isWanted = false;
  let isCutOff = false;
  let open: Subscription | undefined;
  let openedAt: number | undefined;
  let attempts = 0;
  let cancelTimer: () => void = () => {};
  let closing: Promise<unknown> = Promise.resolve();

  const close = (): void => {
    const ended = open;
    open = undefined;
    openedAt = undefined;
    if (ended !== undefined) closing = Promise.allSettled([closing, ended.close()]);
  };

  const subscribe = async (): Promise<void> => {
    // One of our own that is still ending would be told what this one is to be told.
    await closing;
    if (!isWanted || open !== undefined) return;
    // A store that is away is no fault of the backend.
    const position = await untilStored(engine, storeUnavailableMs, () => openPosition(engine, adapterId));
    if (!isWanted) return;
    /** Whatever is told of this subscription once another is there is not about that one. */
    let isCurrent = true;
    const end = (message: string): void => {
      if (!isCurrent) return;
      isCurrent = false;
      resubscribe(message);
      close();
    };
    const request: WatchRequest<unknown> = {
      targets: targetsOf(engine, adapterId, adapter),
      ...(position.start === undefined ? {} : { cursor: position.start }),
      sink: async (updates, cursor) => {
        if (!isCurrent) throw new BridgeError("unavailable", "this subscription was given up");
        await applyUpdates(engine, adapterId, updates);
        if (cursor !== undefined && !(await position.move(cursor)))
          end("another process has gone on from its position");
      },
      ended: (error) => end(error.message),
    };
    const subscription = await callAdapter(engine, {
      adapterId,
      operation: "watch",
      run: async (watched, context) => watched.watch?.(request, context),
      applyLate: async (late) => late?.close(),
    }).catch((error: unknown) => {
      isCurrent = false;
      throw error;
    });
    if (subscription === undefined) return;
    open = subscription;
    // It has ended, or is no longer wanted, before it was there.
    if (!isWanted || !isCurrent) {
      close();
      await closing;
      return;
    }
    isCutOff = false;
    openedAt = engine.store.now();
  };

  const resubscribe = (message: string): void => {
    if (!isWanted) return;
    isCutOff = true;
    // One that ends at once, again and again, is no better than one that fails.
    const hasLasted = engine.store.now() - (openedAt ?? Number.POSITIVE_INFINITY) >= lastingMs;
    attempts = hasLasted ? 1 : attempts + 1;
    engine.audit({ kind: "watch_ended", adapterId, message });
    cancelTimer();
    cancelTimer = engine.clock.schedule(backOffMs(attempts, 0.5), () => engine.background(trySubscribe()));
  };

  let chain: Promise<void> = Promise.resolve();
  const trySubscribe = (): Promise<void> => {
    chain = chain.then(subscribe).catch((error: unknown) => resubscribe(toBridgeError(error).message));
    return chain;
  };

  const work: LedWork = {
    gained: () => {
      isWanted = true;
      engine.background(trySubscribe());
    },
    lost: () => {
      isWanted = false;
      isCutOff = false;
      cancelTimer();
      close();
    },
  };
  // Where nobody else is likely, a server that was killed is followed at once, and not when its lease lapses.
  const lead = engine.store.shared ? leadership(engine, `watch:${adapterId}`, work) : soleLead(work);

  return {
    isCutOff: () => isCutOff,
    start: lead.start,
    stop: async () => {
      await lead.stop();
      await closing;
    },
  };
};

const targetsOf = (engine: EngineContext, adapterId: AdapterId, adapter: WorkflowAdapter): readonly unknown[] =>
  [...engine.tools.values()]
    .filter((tool) => tool.adapter === adapterId)
    .map((tool) => adapter.parseTarget(tool.target));

/** Where a source has got to. */
interface Position {
  readonly start: string | undefined;
  /** False when another process has moved it, and this one, frozen for a while perhaps, must not put it back. */
  move(cursor: string): Promise<boolean>;
}

const openPosition = async (engine: EngineContext, adapterId: AdapterId): Promise<Position> => {
  const name = `watch:${adapterId}`;
  const start = await engine.store.values.read(name);
  let kept = start;
  let chain: Promise<boolean> = Promise.resolve(true);
  const move = async (cursor: string): Promise<boolean> => {
    // Events that come twice change nothing, so that a position is not worth a sync to disk.
    if (!(await engine.store.values.write(name, cursor, kept, { durable: false }))) return false;
    kept = cursor;
    return true;
  };
  return {
    start,
    // One after the other, since each must know what the one before has left.
    move: (cursor) => {
      const moved = chain.catch(() => true).then(() => move(cursor));
      chain = moved;
      return moved;
    },
  };
};
